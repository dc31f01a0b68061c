import { isSameButLimits } from '../../config/rate-limit-options.ts';
import { unknownOptions, unknownOptionText } from '../../config/unknown-options.ts';
import { toError } from '../../errors.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { ConnectorChangeAnswer } from '../../operate/history/history-answers.ts';
import type { PreviewAnswer } from '../../operate/preview/preview-answers.ts';
import type { ConfigInfosAnswer } from '../../rest/answers.ts';
import type { ClusterConnector, ConnectClient, ConnectorConfigs } from './connect-client.ts';
import type { DesiredConnector, DesiredState } from './connector-files.ts';
import { isHiddenByWorker, optionTypes, shown, type OptionTypes } from './hidden-values.ts';

/**
 * A key before and after, as the history of a connector shows it; secrets are `[hidden]`. Without `before` the key is
 * new, without `after` it was removed.
 */
export type KeyChange = NonNullable<ConnectorChangeAnswer['difference']>[number];

/** The result of trying the newest messages of a topic with a sink. */
export interface DryRun {
  readonly topic: string;
  readonly records: number;
  readonly rows: number;
  readonly faults: readonly string[];
  /** The reason why the messages were not tried; absent: they were tried. */
  readonly skipped?: string;
}

export interface PlannedConnector {
  readonly name: string;
  readonly action: 'create' | 'change' | 'delete' | 'unchanged';
  /** `FILE:LINE`; absent for a deletion. */
  readonly place?: string;
  readonly changes: readonly KeyChange[];
  /** Keys whose value the cluster hides. */
  readonly notComparable: readonly string[];
  readonly state?: { readonly before?: DesiredState; readonly after: DesiredState };
  /** The connector and tasks that restart or end. */
  readonly restarts?: { readonly connector: boolean; readonly tasks: number };
  readonly errors: readonly string[];
  /** Options that are probably misspelt. */
  readonly warnings: readonly string[];
  readonly dryRun?: DryRun;
}

export interface Plan {
  readonly connectors: readonly PlannedConnector[];
  /** Connectors of the cluster that are in no file. Without `--prune` they are kept. */
  readonly notInFiles: readonly string[];
}

export interface PlanOptions {
  readonly client: ConnectClient;
  readonly desired: readonly DesiredConnector[];
  readonly prune: boolean;
  readonly dryRun: boolean;
  readonly secrets: SecretMask;
}

/** A plan, and the cluster when it was made. */
export interface PlannedCluster {
  readonly plan: Plan;
  readonly cluster: Readonly<Record<string, ClusterConnector>>;
}

const DRY_RUN_MESSAGES = 10;
const MAX_FAULTS = 5;
const NONE: OptionTypes = new Map();

/**
 * Compares files with a cluster and validates them. With `dryRun`, previews each valid sink that is new or changed with
 * the newest messages of the first topic in `topics`; sinks with `topics.regex` are not previewed. Writes nothing.
 */
export async function makePlan({ client, desired, prune, dryRun, secrets }: PlanOptions): Promise<PlannedCluster> {
  const cluster = await client.connectors();
  const planned: PlannedConnector[] = [];
  for (const connector of desired) {
    const current = Object.hasOwn(cluster, connector.name) ? cluster[connector.name] : undefined;
    const { types, errors, warnings } = await validated(client, connector, secrets);
    const one = compare(connector, current, types, secrets);
    const tries = dryRun && errors.length === 0 && one.changes.length > 0;
    const tried = tries ? await dryRunOf(client, connector, secrets) : undefined;
    planned.push({ ...one, errors, warnings, ...(tried === undefined ? {} : { dryRun: tried }) });
  }
  const names = new Set(desired.map(({ name }) => name));
  const notInFiles = Object.keys(cluster).filter((name) => !names.has(name));
  if (prune) for (const name of notInFiles) planned.push(deletion(name, cluster[name]));
  return { cluster, plan: { connectors: planned, notInFiles: prune ? [] : notInFiles } };
}

export function differs({ action }: PlannedConnector): boolean {
  return action !== 'unchanged';
}

function deletion(name: string, current: ClusterConnector | undefined): PlannedConnector {
  const restarts = { connector: true, tasks: current?.info.tasks.length ?? 0 };
  return { name, action: 'delete', changes: [], notComparable: [], errors: [], warnings: [], restarts };
}

/** @internal The difference of one connector. */
export function compare(
  connector: DesiredConnector,
  current: ClusterConnector | undefined,
  types: OptionTypes,
  secrets: SecretMask,
): PlannedConnector {
  const { name, place } = connector;
  const before: ConnectorConfigs = current?.info.config ?? {};
  const keys = [...new Set([...Object.keys(before), ...Object.keys(connector.config)])].filter((key) => key !== 'name');
  const changes: KeyChange[] = [];
  const notComparable: string[] = [];
  const text = (key: string, value: string | null) => (value === null ? null : shown(key, value, types, secrets));
  for (const key of keys.sort()) {
    const [old, now] = [own(before, key), own(connector.config, key)];
    if (typeof old === 'string' && isHiddenByWorker(old) && now !== undefined) notComparable.push(key);
    else if (old !== now) {
      changes.push({
        key,
        ...(old === undefined ? {} : { before: text(key, old) }),
        ...(now === undefined ? {} : { after: text(key, now) ?? '' }),
      });
    }
  }
  const state = stateChange(connector, current);
  const common = {
    name,
    place,
    changes,
    notComparable,
    errors: [],
    warnings: [],
    ...(state === undefined ? {} : { state }),
  };
  if (current === undefined) return { ...common, action: 'create' };
  if (changes.length === 0) return { ...common, action: state === undefined ? 'unchanged' : 'change' };
  const restarts = { connector: true, tasks: current.info.tasks.length };
  return {
    ...common,
    action: 'change',
    ...(changesLimitsOnly(before, connector.config, notComparable) ? {} : { restarts }),
  };
}

/** Rate limits are changed without a restart. Keys whose values the worker hides are taken for unchanged. */
function changesLimitsOnly(
  before: ConnectorConfigs,
  after: Readonly<Record<string, string>>,
  hidden: readonly string[],
) {
  const textsOf = (config: ConnectorConfigs): Record<string, string> =>
    Object.fromEntries(
      Object.entries(config).flatMap(([key, value]) => (hidden.includes(key) ? [] : [[key, value ?? '']])),
    );
  return isSameButLimits(textsOf(before), textsOf(after));
}

function own<T>(config: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(config, key) ? config[key] : undefined;
}

function stateChange(
  { state, initialState }: DesiredConnector,
  current: ClusterConnector | undefined,
): PlannedConnector['state'] {
  if (current === undefined) {
    const first = state ?? initialState;
    return first === undefined ? undefined : { after: first };
  }
  const before = stateOf(current);
  return state === undefined || state === before ? undefined : { before, after: state };
}

/** The state that was requested for a connector, as far as its status shows it. */
export function stateOf({ status }: ClusterConnector): DesiredState {
  const state = status?.connector.state;
  return state === 'PAUSED' ? 'paused' : state === 'STOPPED' ? 'stopped' : 'running';
}

async function validated(
  client: ConnectClient,
  { config }: DesiredConnector,
  secrets: SecretMask,
): Promise<{ types: OptionTypes; errors: string[]; warnings: string[] }> {
  const pluginClass = config['connector.class'] ?? '';
  if (pluginClass === '') return { types: NONE, errors: ['connector.class is missing'], warnings: [] };
  let validation: ConfigInfosAnswer;
  try {
    validation = await client.validate(pluginClass, config);
  } catch (error) {
    learnSecrets(config, NONE, secrets);
    return { types: NONE, errors: [secrets.hide(toError(error).message)], warnings: [] };
  }
  const types = optionTypes(validation);
  learnSecrets(config, types, secrets);
  const errors = validation.configs.flatMap(({ value }) => value.errors.map((error) => `${value.name}: ${error}`));
  const known = validation.configs.map(({ value }) => value.name);
  const warnings = unknownOptions(Object.keys(config), known).map(unknownOptionText);
  return { types, errors: errors.map((error) => secrets.hide(error)), warnings };
}

function learnSecrets(config: Readonly<Record<string, string>>, types: OptionTypes, secrets: SecretMask): void {
  for (const [key, value] of Object.entries(config)) shown(key, value, types, secrets);
}

async function dryRunOf(
  client: ConnectClient,
  { config }: DesiredConnector,
  secrets: SecretMask,
): Promise<DryRun | undefined> {
  const [topic = ''] = (config['topics'] ?? '').split(',').map((name) => name.trim());
  if (topic === '') return undefined;
  const none = { topic, records: 0, rows: 0, faults: [] };
  try {
    const answer = await client.preview(config['connector.class'] ?? '', config, topic, DRY_RUN_MESSAGES);
    if (answer === undefined) return { ...none, skipped: 'the worker has no dry run' };
    return { topic, ...summaryOf(answer, secrets) };
  } catch (error) {
    return { ...none, skipped: secrets.hide(toError(error).message) };
  }
}

function summaryOf({ records }: PreviewAnswer, secrets: SecretMask): Pick<DryRun, 'records' | 'rows' | 'faults'> {
  const faults = records.flatMap((record) => record.faults);
  return {
    records: records.length,
    rows: records.reduce((sum, { rows = [] }) => sum + rows.length, 0),
    faults: faults
      .slice(0, MAX_FAULTS)
      .map(({ stage, message = '' }) => secrets.hide(`${stage}: ${message}`))
      .concat(faults.length > MAX_FAULTS ? [`${String(faults.length - MAX_FAULTS)} more`] : []),
  };
}
