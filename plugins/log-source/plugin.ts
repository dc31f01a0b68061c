import {
  parseOptions,
  SLUICE_VERSION,
  type Connector,
  type ConnectorConfig,
  type DiagnosisContext,
  type Finding,
  type OptionResult,
  type SourceConnectorPlugin,
  type SourceOffset,
} from '../../src/index.ts';
import { databasePlace, unavailableReason } from '../database/index.ts';
import { diagnoseLog } from './diagnosis.ts';
import { LogSourceTask } from './log-source-task.ts';
import { logSourceOptions } from './options.ts';
import { checkOffsets } from './position.ts';
import { optionError, preflightProblems } from './preflight.ts';
import type { LogDoor } from './record-form.ts';
import { logSettings } from './settings.ts';
import { unsupportedProblems } from './unsupported-options.ts';

/** The connector has one task, because only one connection can read a slot. */
export class LogSourceConnector implements Connector {
  #config: ConnectorConfig = {};

  async start(config: ConnectorConfig): Promise<void> {
    this.#config = config;
    return Promise.resolve();
  }

  async taskConfigs(): Promise<readonly ConnectorConfig[]> {
    return Promise.resolve([this.#config]);
  }

  async stop(): Promise<void> {
    return Promise.resolve();
  }
}

function problem(name: string, message: string): OptionResult {
  return optionError(name, `The '${name}' value is invalid: ${message}`);
}

async function validate(config: ConnectorConfig): Promise<readonly OptionResult[]> {
  const problems: OptionResult[] = [...unsupportedProblems(config)];
  for (const kind of ['schema', 'table', 'column']) {
    const [include, exclude] = [`${kind}.include.list`, `${kind}.exclude.list`];
    if ((config[include] ?? '') === '' || (config[exclude] ?? '') === '') continue;
    problems.push(problem(exclude, `"${include}" is already specified`));
  }
  try {
    const options = parseOptions(logSourceOptions, config);
    const { 'max.batch.size': batch, 'max.queue.size': queue } = options;
    if (queue !== null && batch !== null && queue <= batch)
      problems.push(problem('max.queue.size', 'Must be larger than the maximum batch size'));
    if (problems.length === 0) problems.push(...(await connectionProblems(config)));
  } catch {
    // Invalid values are reported by the validators of the options.
  }
  return problems;
}

async function connectionProblems(config: ConnectorConfig): Promise<readonly OptionResult[]> {
  try {
    return await preflightProblems(logSettings(config));
  } catch (error) {
    return [optionError('database.hostname', `Error while validating connector config: ${unavailableReason(error)}`)];
  }
}

async function diagnose(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]> {
  return diagnoseLog(logSettings(config), context);
}

async function alterOffsets(config: ConnectorConfig, offsets: readonly SourceOffset[]): Promise<boolean> {
  checkOffsets(logSettings(config).prefix, offsets);
  return Promise.resolve(true);
}

const DEBEZIUM: LogDoor = { settings: logSettings, form: () => undefined };

/** @internal */
export const postgresLogSource: SourceConnectorPlugin = {
  type: 'source',
  className: 'io.debezium.connector.postgresql.PostgresConnector',
  taskClassName: 'io.debezium.connector.postgresql.PostgresConnectorTask',
  version: SLUICE_VERSION,
  options: logSourceOptions,
  createConnector: () => new LogSourceConnector(),
  createTask: () => new LogSourceTask(DEBEZIUM),
  exactlyOnceSupport: () => 'supported',
  validate,
  diagnose,
  alterOffsets,
  databasePlace: (config) => {
    const { 'database.hostname': host = '', 'database.port': port = '5432' } = config;
    return databasePlace(`postgresql://${host.includes(':') ? `[${host}]` : host}:${port}`, config['database.dbname']);
  },
};
