// The first hour: the page of a home without a model, which gives way once it was left, and what to do once one answers.

const LEFT = "mnema.welcome";
const CARDS = "mnema.cards";
const ALL = ["messenger", "reminder"] as const;

export type Card = (typeof ALL)[number];

export const isWelcomeLeft = (): boolean => localStorage.getItem(LEFT) !== null;
export const leaveWelcome = (): void => localStorage.setItem(LEFT, "left");

/** What is still to be done or waved away in this browser; nothing before a model was set up in it. */
export const openCards = (): Card[] => ALL.filter((card) => localStorage.getItem(CARDS)?.split(",").includes(card));

/** Offer them from now on, unless they were offered before. */
export function offerCards(): void {
  if (localStorage.getItem(CARDS) === null) localStorage.setItem(CARDS, ALL.join(","));
}

export const closeCards = (closed: readonly Card[]): void =>
  localStorage.setItem(CARDS, openCards().filter((card) => !closed.includes(card)).join(","));
