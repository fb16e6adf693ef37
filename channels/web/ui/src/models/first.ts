// The first page of a home without a model, which gives way once it was left.

const LEFT = "mnema.welcome";

export const isWelcomeLeft = (): boolean => localStorage.getItem(LEFT) !== null;
export const leaveWelcome = (): void => localStorage.setItem(LEFT, "left");
