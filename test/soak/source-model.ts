import { differential } from './differential/differential.ts';
import { ModelStage } from './model/model-stage.ts';
import { KILL_EVERY, SOURCE_WORKERS, sourceRound } from './model/source-round.ts';

/**
 * Random changes of tables, with restarts and other numbers of tasks, become the records that a simple model of the documents says. At one seed
 * in 25 the worker is killed meanwhile.
 */
export const sourceModel = differential({
  round: sourceRound,
  start: () => ModelStage.start(...SOURCE_WORKERS),
  defaultCount: 200,
  lanes: 4,
  runsAlone: (seed) => seed % KILL_EVERY === 0,
});
