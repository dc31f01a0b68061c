#!/usr/bin/env node
import { Argument, Command, InvalidArgumentError } from 'commander';
import { completionScript, SHELLS, type Shell } from './cli/command-line/completion.ts';
import { completeHelp } from './cli/command-line/help.ts';
import { environmentProperties } from './config/environment.ts';
import { listEntries } from './config/list-text.ts';
import { readPropertiesFile } from './config/properties-file.ts';
import { loadWorkerConfig, type Properties, type WorkerConfig } from './config/worker-config.ts';
import { addConfigFileCommands } from './cli/config-files/commands.ts';
import { addConsoleCommands } from './cli/messages/commands.ts';
import { runningBroker } from './dev/addresses.ts';
import { ConfigError, toError } from './errors.ts';
import { ConnectorLog } from './observe/connector-log.ts';
import { createLogger } from './observe/logger.ts';
import { SecretMask } from './observe/secret-mask.ts';
import { packageVersion } from './version.ts';
import { readWorkerProperties } from './worker/worker-properties.ts';
import type { Worker, WorkerOptions } from './worker/worker.ts';

/** Connect's exit codes: 1 for a usage error, 2 for a stop because of an error, 3 for a failed start. */
const EXIT_USAGE = 1;
const EXIT_STOPPED_BY_ERROR = 2;
const EXIT_NOT_STARTED = 3;

interface DevFlags {
  readonly fresh?: boolean;
  readonly exitAfter?: number;
  readonly json?: boolean;
  readonly bootstrap?: string;
  readonly data?: string;
}

process.env['KAFKAJS_NO_PARTITIONER_WARNING'] = '1';

const program = new Command('sluice')
  .description('A Kafka Connect worker that moves rows between Kafka and PostgreSQL')
  .version(packageVersion())
  .showHelpAfterError()
  .exitOverride((exit) => process.exit(exit.exitCode === 0 ? 0 : EXIT_USAGE));

program
  .command('start')
  .description('start a distributed worker')
  .argument('[worker.properties]', 'worker settings; CONNECT_* variables take precedence')
  .action(async (file: string | undefined) => {
    await runWorker('distributed', file, []);
  });

program
  .command('standalone')
  .description('start a standalone worker with the given connectors')
  .argument('<worker.properties>', 'worker settings')
  .argument('[connectors...]', 'connector files: JSON or .properties')
  .action(async (file: string, connectors: string[]) => {
    await runWorker('standalone', file, connectors);
  });

program
  .command('dev')
  .description('start a local PostgreSQL, a Kafka, a worker and sample connectors that move real rows')
  .option('--fresh', 'forget the data and offsets of earlier runs')
  .option('--exit-after <seconds>', 'stop automatically this long after everything is running', positiveNumber)
  .option('--json', 'print one line of JSON at the end instead of a live view')
  .option('--bootstrap <servers>', 'use this Kafka instead of a local one')
  .option('--data <folder>', 'the folder for data and logs (default: .sluice/dev)')
  .action(async (options: DevFlags) => {
    const { runDev } = await import('./dev/command.ts');
    process.exitCode = await runDev({
      folder: options.data,
      fresh: options.fresh ?? false,
      json: options.json ?? false,
      exitAfterMs: options.exitAfter === undefined ? undefined : options.exitAfter * 1000,
      bootstrapServers: options.bootstrap,
    });
  });

addConsoleCommands(program, runningBroker);
addConfigFileCommands(program);

program
  .command('plugins')
  .description('list the connectors, converters and other plugins, each with its version and location')
  .argument('[list]', 'the action; list is the default and the only one')
  .option('--plugin-path <folders>', 'the folders to search, as in the worker property plugin.path')
  .option('--worker-config <file>', 'read plugin.path from a worker file')
  .action(async (action: string | undefined, options: { pluginPath?: string; workerConfig?: string }) => {
    if (action !== undefined && action !== 'list')
      program.error(`error: unknown action ${action}; the only one is list`);
    const { listPlugins } = await import('./worker/plugin-list.ts');
    const file = options.workerConfig === undefined ? {} : await readPropertiesFile(options.workerConfig);
    const { properties: environment } = environmentProperties(process.env);
    const pluginPath = options.pluginPath ?? environment['plugin.path'] ?? file['plugin.path'];
    for (const line of await listPlugins(listEntries(pluginPath))) process.stdout.write(`${line}\n`);
  });

program
  .command('doctor')
  .description('check everything that a worker and its connectors need, and explain how to fix each problem')
  .argument('[worker.properties]', 'worker settings; CONNECT_* variables take precedence')
  .argument('[connectors...]', 'connector files: JSON or .properties')
  .option('--json', 'print the findings as one line of JSON')
  .action(async (file: string | undefined, connectors: string[], options: { json?: boolean }) => {
    const { runDoctor } = await import('./cli/doctor/command.ts');
    process.exitCode = await runDoctor({ file, connectors, json: options.json ?? false });
  });

program
  .command('completion')
  .description('print the shell script that completes commands and options')
  .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
  .action((shell: Shell) => {
    process.stdout.write(completionScript(program, shell));
  });

completeHelp(program);

function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0) || value > 1e9) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

async function runWorker(mode: WorkerConfig['mode'], file: string | undefined, connectors: string[]): Promise<void> {
  const secrets = new SecretMask();
  const config = await readConfig(mode, file, secrets);
  const level = config.own['log.level'].toLowerCase();
  const tail = new ConnectorLog();
  const logger = await createLogger({ level, format: logFormat(config.own['log.format']), secrets, tail });
  await serve(config, connectors, { logger, secrets, tail });
}

async function readConfig(
  mode: WorkerConfig['mode'],
  file: string | undefined,
  secrets: SecretMask,
): Promise<WorkerConfig> {
  try {
    const openLogger = ({ 'log.format': format }: Properties) =>
      createLogger({ level: 'warn', format: logFormat(format), secrets });
    const { properties, warnings } = await readWorkerProperties(file, secrets, openLogger);
    const config = loadWorkerConfig({ mode, properties });
    return { ...config, warnings: [...warnings, ...config.warnings] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(
      `The worker's configuration${file === undefined ? '' : ` in ${file}`} is wrong:\n${secrets.hide(error.message)}\n`,
    );
    process.exit(EXIT_NOT_STARTED);
  }
}

function logFormat(option = 'auto'): 'text' | 'json' {
  if (option === 'auto') return process.stdout.isTTY ? 'text' : 'json';
  return option === 'pretty' ? 'text' : 'json';
}

/** Reports an unhandled error and exits. Used by commands other than workers, and by a worker until its logger exists. */
function stopOnError(reason: unknown): void {
  process.stderr.write(`Stopped by an unhandled error: ${toError(reason).stack ?? String(reason)}\n`);
  process.exit(EXIT_STOPPED_BY_ERROR);
}

async function serve(config: WorkerConfig, connectorFiles: string[], options: WorkerOptions): Promise<void> {
  const { logger } = options;
  const { startWorker } = await import('./worker/worker.ts');
  const { guardProcess } = await import('./observe/unhandled-errors.ts');
  const { boundHeapGrowth } = await import('./worker/heap-growth.ts');
  boundHeapGrowth();
  process.off('unhandledRejection', stopOnError);
  guardProcess(logger);
  let worker: Worker | undefined;
  let stopping: Promise<void> | undefined;
  // A worker that has not been built yet does not need a graceful stop.
  const stop = async (signal: string): Promise<void> => {
    logger.info(`${signal}: Kafka Connect stopping`);
    await worker?.stop();
    logger.info('Kafka Connect stopped');
    if (worker !== undefined && worker.threadsLeftBehind() > 0) {
      logger.warn('A thread waits in a system call; the process does not wait for it and ends by SIGKILL');
      process.kill(process.pid, 'SIGKILL');
    }
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void (stopping ??= stop(signal)));
  try {
    worker = await startWorker(config, options);
    await worker.started;
    if (connectorFiles.length > 0) {
      const { createConnectors } = await import('./worker/standalone-connectors.ts');
      await createConnectors(worker, connectorFiles, logger);
    }
  } catch (error) {
    if (stopping !== undefined) return;
    const said = `The worker could not start: ${toError(error).message}`;
    if (error instanceof ConfigError) process.stderr.write(`${options.secrets?.hide(said) ?? said}\n`);
    else logger.fatal({ err: error }, said);
    process.exit(EXIT_NOT_STARTED);
  }
}

// The process that reads the output has closed the pipe (`sluice plugins | head`).
process.stdout.on('error', () => {
  process.exit();
});

process.on('unhandledRejection', stopOnError);

await program.parseAsync();
