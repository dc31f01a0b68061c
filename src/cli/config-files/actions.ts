/** Actions of `sluice dead-letters`. */
export const DEAD_LETTER_ACTIONS = ['groups', 'preview', 'replay', 'status', 'stop'] as const;
export type DeadLetterAction = (typeof DEAD_LETTER_ACTIONS)[number];

/** Actions of `sluice history`. */
export const HISTORY_ACTIONS = ['list', 'show', 'restore'] as const;
export type HistoryAction = (typeof HISTORY_ACTIONS)[number];
