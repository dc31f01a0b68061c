import { differential } from './differential/differential.ts';
import { ModelStage } from './model/model-stage.ts';
import { KILL_EVERY, sinkRound } from './model/sink-round.ts';

/**
 * Random records of every format, with restarts and rebalances, are stored by sinks as a simple model of the documents says: rows, types
 * and dead letters. At one seed in 25 the worker is killed meanwhile.
 */
export const sinkModel = differential({
  round: sinkRound,
  start: () => ModelStage.start({}),
  defaultCount: 500,
  lanes: 4,
  runsAlone: (seed) => seed % KILL_EVERY === 0,
});
