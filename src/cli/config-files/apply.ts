import { ConfigError, toError } from '../../errors.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { ClusterConnector, ConnectClient, ConnectorConfigs } from './connect-client.ts';
import type { DesiredConnector } from './connector-files.ts';
import { differs, type PlannedCluster, type PlannedConnector } from './plan.ts';

export interface Applied {
  readonly name: string;
  readonly action: PlannedConnector['action'];
  /** Absent: the change succeeded. */
  readonly error?: string;
}

export interface ApplyOptions {
  readonly client: ConnectClient;
  readonly desired: readonly DesiredConnector[];
  readonly secrets: SecretMask;
  /** Called for each connector after its change succeeded or failed. */
  readonly report: (applied: Applied) => void;
}

const ACTIONS = { running: 'resume', paused: 'pause', stopped: 'stop' } as const;
const ORDER = ['create', 'change', 'delete'];

/** Applies a plan: creates, changes, then deletes. A failure does not prevent the other changes. */
export async function applyPlan({ plan, cluster }: PlannedCluster, options: ApplyOptions): Promise<Applied[]> {
  const { client, desired, secrets, report } = options;
  const ordered = plan.connectors.filter(differs).sort((a, b) => ORDER.indexOf(a.action) - ORDER.indexOf(b.action));
  const byName = new Map(desired.map((connector) => [connector.name, connector]));
  const done: Applied[] = [];
  for (const planned of ordered) {
    const { name, action } = planned;
    let applied: Applied = { name, action };
    try {
      await applyOne(client, planned, byName.get(name), cluster[name]);
    } catch (error) {
      applied = { ...applied, error: secrets.hide(toError(error).message) };
    }
    done.push(applied);
    report(applied);
  }
  return done;
}

async function applyOne(
  client: ConnectClient,
  planned: PlannedConnector,
  desired: DesiredConnector | undefined,
  current: ClusterConnector | undefined,
): Promise<void> {
  const { name, action, state } = planned;
  if (current !== undefined) await mustBeAsPlanned(client, name, current.info.config);
  if (desired === undefined) {
    await client.remove(name);
    return;
  }
  if (action === 'create') {
    await client.create(name, desired.config, state?.after);
    return;
  }
  // If the new state is paused or stopped, it is set before the configuration, so that the change starts no tasks. If
  // it is running, it is set after the configuration, so that the tasks start with the change.
  const rests = state !== undefined && state.after !== 'running';
  if (rests) await client.setState(name, ACTIONS[state.after]);
  if (planned.changes.length > 0) await client.change(name, desired.config);
  if (state !== undefined && !rests) await client.setState(name, ACTIONS[state.after]);
}

/** Throws a ConfigError if the configuration was changed since the plan was made, for example by another user. */
async function mustBeAsPlanned(client: ConnectClient, name: string, planned: ConnectorConfigs): Promise<void> {
  const now = await client.config(name);
  const keys = new Set([...Object.keys(planned), ...Object.keys(now)]);
  for (const key of keys) {
    if (planned[key] !== now[key]) {
      throw new ConfigError(`the connector was changed since the plan was made (${key}); plan again`);
    }
  }
}
