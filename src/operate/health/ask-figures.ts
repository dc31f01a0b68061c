import { arrayOf, objectOf, withMore } from '../../json/open-api.ts';
import { validatorOf } from '../../json/validator.ts';
import { NotUnderstoodError, type Asker, type OtherWorkers } from '../workers/other-workers.ts';
import type { AskWorker, WorkerFigures } from './gathered-figures.ts';
import { COMMITTED_LAG, FIGURES_OF_TASK } from './health-answers.ts';

const isTasks = validatorOf(
  withMore(objectOf({ tasks: arrayOf(FIGURES_OF_TASK), 'committed?': arrayOf(COMMITTED_LAG) })),
);

/** Requests the figures of other workers' tasks: of all tasks, or of `connector` if `path` returns only its tasks. */
export function askFigures(others: OtherWorkers, asker: Asker, path: string, connector?: string): AskWorker {
  const get = others.get(asker);
  return async (worker) => workerFigures(await get(worker, path), connector);
}

function workerFigures(answered: unknown, connector: string | undefined): WorkerFigures {
  if (!isTasks(answered)) throw new NotUnderstoodError('the answer does not have the figures of tasks');
  const { tasks, committed = [] } = answered;
  return {
    tasks: tasks.map(({ connector: own = '', ...figures }) => ({ connector: connector ?? own, figures })),
    committed,
  };
}
