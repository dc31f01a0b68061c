import { InvalidArgumentError, type Command } from 'commander';
import { toError } from '../../errors.ts';
import type { ClusterChoice } from './connect.ts';

interface ClusterFlags {
  readonly bootstrap?: string;
  readonly workerConfig?: string;
}

interface ProduceFlags extends ClusterFlags {
  readonly key?: string;
  readonly create?: boolean;
}

interface ConsumeFlags extends ClusterFlags {
  readonly count?: number;
}

interface DrainFlags {
  readonly url: string;
  readonly undo?: boolean;
  readonly wait: boolean;
}

/** The exit code after an error. */
const EXIT_STOPPED_BY_ERROR = 2;

/**
 * Declares `produce`, `consume` and `drain`. `runningBroker` returns the address of the broker of a local stack, if one
 * runs.
 */
export function addConsoleCommands(program: Command, runningBroker: () => string | undefined): void {
  const withCluster = (command: Command): Command =>
    command
      .option(
        '--bootstrap <servers>',
        'the Kafka brokers (default: BOOTSTRAP_SERVERS, those of sluice dev, 127.0.0.1:9092)',
      )
      .option('--worker-config <file>', "take the brokers, and the login to them, from a worker's file");

  const clusterChoice = ({ bootstrap, workerConfig }: ClusterFlags): ClusterChoice => {
    const named = process.env['BOOTSTRAP_SERVERS'] ?? '';
    const usual = named === '' ? (runningBroker() ?? '127.0.0.1:9092') : named;
    return {
      bootstrapServers: bootstrap ?? (workerConfig === undefined ? usual : undefined),
      workerFile: workerConfig,
    };
  };

  withCluster(program.command('produce'))
    .description('send lines to a topic, each as a message')
    .argument('<topic>', 'the topic')
    .argument('[file]', 'the lines; - or none: standard input')
    .option('--key <key>', 'key of all messages')
    .option('--create', 'create the topic if it is missing')
    .addHelpText('after', '\nExample:\n  sluice produce meters meters.txt --create')
    .action(async (topic: string, file: string | undefined, flags: ProduceFlags) => {
      const { produce } = await import('./produce.ts');
      const { key, create = false } = flags;
      const sent = await orEnd(produce({ topic, file, key, create, cluster: clusterChoice(flags) }));
      process.stderr.write(`${String(sent)} ${sent === 1 ? 'message' : 'messages'} sent to ${topic}\n`);
    });

  withCluster(program.command('consume'))
    .description('print the messages of a topic, each as a line, from the first one')
    .argument('<topic>', 'the topic')
    .option('--count <messages>', 'number of messages to print (default: no limit)', wholeNumber)
    .addHelpText('after', '\nExample:\n  sluice consume meters --count 1')
    .action(async (topic: string, flags: ConsumeFlags) => {
      const { consume } = await import('./consume.ts');
      const forPeople = process.stdout.isTTY;
      const options = { topic, count: flags.count, forPeople, cluster: clusterChoice(flags) };
      await orEnd(consume(options, process.stdout, (message) => process.stderr.write(`${message}\n`)));
    });

  program
    .command('drain')
    .description(
      'move the work of a worker to the others, and wait until it has none; without an argument, list the workers',
    )
    .argument('[worker]', 'the worker, as host:port')
    .option('--url <url>', 'the management API of any worker of the group', 'http://127.0.0.1:8083')
    .option('--undo', 'let the worker take work again')
    .option('--no-wait', 'return when the drain has begun')
    .addHelpText('after', '\nExample:\n  sluice drain worker-1:8083 --url http://worker-2:8083')
    .action(async (worker: string | undefined, { url, undo = false, wait }: DrainFlags) => {
      const { drain } = await import('./drain.ts');
      await orEnd(drain({ url, worker, undo, noWait: !wait }, (line) => process.stdout.write(`${line}\n`)));
    });
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return value;
}

/** Prints the message of an error without a stack trace, and ends the process. */
async function orEnd<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    process.stderr.write(`${toError(error).message}\n`);
    return process.exit(EXIT_STOPPED_BY_ERROR);
  });
}
