/** What `sluice dead-letters` can be asked for. */
export const LETTER_ACTIONS = ['groups', 'preview', 'replay', 'status', 'stop'] as const;
export type LetterAction = (typeof LETTER_ACTIONS)[number];
