/** What `sluice history` can be asked for. */
export const HISTORY_ACTIONS = ['list', 'show', 'restore'] as const;
export type HistoryAction = (typeof HISTORY_ACTIONS)[number];
