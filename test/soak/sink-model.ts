import { differential } from './differential/differential.ts';
import { ModelStage } from './model/model-stage.ts';
import { KILL_EVERY, sinkRound } from './model/sink-round.ts';

/**
 * Sinks must store random records of every format as a simple model of the documents predicts: rows, types and dead
 * letters. Restarts and rebalances happen meanwhile. With one seed in 25, the worker is killed.
 */
export const sinkModel = differential({
  round: sinkRound,
  start: () => ModelStage.start({}),
  defaultCount: 500,
  lanes: 4,
  runsAlone: (seed) => seed % KILL_EVERY === 0,
});
