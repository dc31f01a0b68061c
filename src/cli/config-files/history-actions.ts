/** Actions of `sluice history`. */
export const HISTORY_ACTIONS = ['list', 'show', 'restore'] as const;
export type HistoryAction = (typeof HISTORY_ACTIONS)[number];
