import {
  parseOptions,
  silentLogger,
  SLUICE_VERSION,
  type Connector,
  type ConnectorConfig,
  type DiagnosisContext,
  type Finding,
  type OptionResult,
  type SourceConnectorPlugin,
  type SourceOffset,
} from '../../src/index.ts';
import { connectWithAttempts, diagnoseDatabase, openExecutor, unavailableReason } from '../database/index.ts';
import { CONNECTIONS, LogSourceTask } from './log-source-task.ts';
import { logSourceOptions } from './options.ts';
import { checkOffsets } from './position.ts';
import { preflight } from './preflight.ts';
import { capturedTables } from './preparation.ts';
import type { LogDoor } from './record-form.ts';
import { logSettings } from './settings.ts';
import { unsupportedProblems } from './unsupported-options.ts';

/** Has one task, because a slot has one reader. */
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
  return {
    name,
    value: null,
    recommendedValues: [],
    errors: [`The '${name}' value is invalid: ${message}`],
    visible: true,
  };
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
    // The declared checks say what is wrong.
  }
  return problems;
}

async function connectionProblems(config: ConnectorConfig): Promise<readonly OptionResult[]> {
  const settings = logSettings(config);
  const executor = openExecutor(settings.connection, { logger: silentLogger, poolSize: 1 });
  try {
    await connectWithAttempts(executor, { attempts: 1, backoffMs: 0 });
    const findings = (await preflight(executor, settings)).filter(({ level }) => level === 'fail');
    return findings.map(({ option: name, about, message, remedy }): OptionResult => {
      const text = `${about}: ${message}${remedy === undefined ? '' : `. To fix it: ${remedy}`}`;
      return { name, value: null, recommendedValues: [], errors: [text], visible: true };
    });
  } catch (error) {
    const message = `Error while validating connector config: ${unavailableReason(error)}`;
    return [{ name: 'database.hostname', value: null, recommendedValues: [], errors: [message], visible: true }];
  } finally {
    await executor.close();
  }
}

async function diagnose(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]> {
  const settings = logSettings(config);
  return diagnoseDatabase(
    settings.connection,
    { connections: CONNECTIONS, writes: false },
    context,
    async (executor) => {
      const tables = await capturedTables(executor, settings);
      context.writesTo(tables.map((table) => settings.topicOf(table).topic));
      return (await preflight(executor, settings)).map(({ option: _, ...finding }) => finding);
    },
  );
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
};
