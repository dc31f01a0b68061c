import { differential } from './differential/differential.ts';
import { ModelStage } from './model/model-stage.ts';
import { KILL_EVERY, SOURCE_WORKERS, sourceRound } from './model/source-round.ts';

/**
 * Random changes of tables must become the records that a simple model of the documents predicts. Restarts and changes
 * of the number of tasks happen meanwhile. With one seed in 25, the worker is killed.
 */
export const sourceModel = differential({
  round: sourceRound,
  start: () => ModelStage.start(...SOURCE_WORKERS),
  defaultCount: 200,
  lanes: 4,
  runsAlone: (seed) => seed % KILL_EVERY === 0,
});
