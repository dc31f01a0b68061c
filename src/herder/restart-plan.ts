import type { RestartRequest } from './stores/config-state.ts';
import type { StatusStore } from './stores/status-store.ts';

/** The connector and tasks that a request restarts, based on their current statuses (org.apache.kafka.connect.runtime.RestartPlan). */
export interface RestartPlan {
  readonly restartConnector: boolean;
  readonly tasks: readonly number[];
}

/** Returns `undefined` if the connector has no status. */
export function planRestart(request: RestartRequest, statuses: StatusStore): RestartPlan | undefined {
  const connector = statuses.connector(request.connector);
  if (connector === undefined) return undefined;
  const tasks = request.includeTasks
    ? statuses
        .tasks(request.connector)
        .filter(([, status]) => !request.onlyFailed || status.state === 'FAILED')
        .map(([task]) => task)
    : [];
  return { restartConnector: !request.onlyFailed || connector.state === 'FAILED', tasks };
}
