import { texts as frame } from './frame.ts';

export const texts = {
  ...frame,
  workers: 'Workers',
  threads: 'Threads of this worker',
  purpose: 'Purpose',
  loopDelay: 'Longest turn (ms)',
  standalone: 'This worker is a standalone one: it has no group.',
  groupOf: (group: string, generation: number, protocol: string) =>
    `Group ${group}, generation ${String(generation)}, protocol ${protocol}`,
  lastRebalance: 'The last rebalance',
  rebalance: (time: string, reason: string, ms: number, assigned: number, revoked: number) =>
    `${time}: ${reason}. It took ${String(ms)} ms; this worker got ${String(assigned)} and gave up ${String(revoked)}.`,
  parts: 'Parts of the cluster',
  partTitles: { workers: 'Workers', plugins: 'Plugins', loggers: 'Loggers', topics: 'Internal topics' },
} as const;
