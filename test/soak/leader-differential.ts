import { replicatedClients } from './differential/clients.ts';
import { differential } from './differential/differential.ts';
import { KILL_EVERY, leaderRound } from './differential/leader-round.ts';

/**
 * Same as consumer-differential and producer-differential, on three brokers, while partitions change their leaders and
 * brokers are killed.
 */
export const leaderDifferential = differential({
  round: leaderRound,
  start: replicatedClients,
  defaultCount: 100,
  runsAlone: (seed) => seed % KILL_EVERY === 0,
});
