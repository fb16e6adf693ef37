"""Skills: folders of instructions that the owner reviewed and enabled, byte for byte."""
