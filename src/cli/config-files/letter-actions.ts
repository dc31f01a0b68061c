/** Actions of `sluice dead-letters`. */
export const LETTER_ACTIONS = ['groups', 'preview', 'replay', 'status', 'stop'] as const;
export type LetterAction = (typeof LETTER_ACTIONS)[number];
