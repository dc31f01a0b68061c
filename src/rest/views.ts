import type { ConnectorInfoAnswer, ConnectorStateAnswer, TaskInfoAnswer, TaskStateAnswer } from './answers.ts';
import type { ConnectorDirectory, ConnectorInfo, ConnectorStatusInfo } from '../herder/connector-directory.ts';
import type { Status } from '../herder/stores/status-store.ts';

/**
 * The bodies of Connect's answers (org.apache.kafka.connect.runtime.rest.entities), without keys that Connect does not
 * have.
 */

export function connectorInfoView(info: ConnectorInfo): ConnectorInfoAnswer {
  return {
    name: info.name,
    config: info.config,
    tasks: info.tasks.map(({ connector, task }) => ({ connector, task })),
    type: info.type,
  };
}

export function connectorStatusView(info: ConnectorStatusInfo): ConnectorStateAnswer {
  return {
    name: info.name,
    connector: stateView(info.connector),
    tasks: info.tasks.map(([id, status]) => ({ id, ...stateView(status) })),
    type: info.type,
  };
}

export function taskStatusView(id: number, status: Status): TaskStateAnswer {
  return { id, ...stateView(status) };
}

export function taskConfigViews(tasks: ReturnType<ConnectorDirectory['taskConfigs']>): readonly TaskInfoAnswer[] {
  return tasks.map(({ id, config }) => ({ id: { connector: id.connector, task: id.task }, config }));
}

/** `trace` and `version` are absent, not null, if there is no value. */
function stateView(status: Status) {
  return {
    state: status.state,
    worker_id: status.workerId,
    ...(status.version === null ? {} : { version: status.version }),
    ...(status.trace === null || status.trace === '' ? {} : { trace: status.trace }),
  };
}

/** The map of `GET /connectors?expand=…`; a connector that was created or deleted a moment ago may be missing. */
export function expandedView(connectors: ConnectorDirectory, wanted: readonly string[]) {
  // A connector may be named __proto__.
  const view = Object.create(null) as Record<string, Record<string, unknown>>;
  for (const name of connectors.names()) {
    try {
      const entry: Record<string, unknown> = {};
      if (wanted.includes('info')) entry['info'] = connectorInfoView(connectors.info(name));
      if (wanted.includes('status')) entry['status'] = connectorStatusView(connectors.status(name));
      view[name] = entry;
    } catch {
      // The connector has no status yet, or was deleted in the meantime.
    }
  }
  return view;
}
