import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { toError } from '../../errors.ts';
import type { DeadLetterFlags } from './dead-letters.ts';
import type { HistoryFlags } from './history.ts';
import { DEAD_LETTER_ACTIONS, HISTORY_ACTIONS, type DeadLetterAction, type HistoryAction } from './actions.ts';
import { FORMATS, type FileFormat } from './export.ts';
import type { ExportFlags, PlanFlags } from './run.ts';

const EXIT_ERROR = 1;

/** Declares `plan`, `apply`, `export`, `dead-letters` and `history`. */
export function addConfigFileCommands(program: Command): void {
  withPlan(program.command('plan'))
    .description('show what sluice apply would change in a cluster, and validate it; writes nothing')
    .addHelpText('after', '\nExample:\n  sluice plan connectors/ --detailed-exitcode')
    .option('--detailed-exitcode', 'exit with 0 if nothing differs, 2 if something differs, 1 after an error')
    .action(async (folder: string, flags: PlanFlags & { detailedExitcode?: boolean }) => {
      const { runPlan } = await import('./run.ts');
      process.exitCode = await orError(runPlan(folder, flags));
    });

  withPlan(program.command('apply'))
    .description('change the connectors of a cluster to what the files of a folder describe')
    .addHelpText('after', '\nExample:\n  sluice apply connectors/ --var-file production.properties')
    .option('--yes', 'do not ask before anything is changed')
    .action(async (folder: string, flags: PlanFlags & { yes?: boolean }) => {
      const { runApply } = await import('./run.ts');
      process.exitCode = await orError(runApply(folder, flags));
    });

  withCluster(program.command('export'))
    .description('write the connectors of a cluster into files, one for each')
    .addHelpText('after', '\nExample:\n  sluice export connectors/ --format yaml')
    .addOption(
      new Option('--format <format>', 'format of the files').choices(FORMATS).default('json' satisfies FileFormat),
    )
    .option('--force', 'overwrite existing files')
    .option('--secrets-file <file>', 'write the values of secrets into this file, for --var-file')
    .action(async (folder: string, flags: ExportFlags) => {
      const { runExport } = await import('./run.ts');
      process.exitCode = await orError(runExport(folder, flags));
    });

  addDeadLetters(program);
  addHistory(program);
}

/** Declares `dead-letters`: dead letters of one sink, and their replays. */
function addDeadLetters(program: Command): void {
  withAddress(program.command('dead-letters'))
    .description('show why records of a sink were not stored, and send them through it again')
    .argument('<connector>', 'the sink')
    .addArgument(
      new Argument('[action]', 'what to do').choices(DEAD_LETTER_ACTIONS).default('groups' satisfies DeadLetterAction),
    )
    .addHelpText('after', '\nExample:\n  sluice dead-letters orders replay --group 1f0c2a9b7d3e --rate 5000 --follow')
    .option('--group <id>', 'only records of this group, as groups shows it')
    .option('--selection <json>', 'only records of this selection: {"offsets": …, "time": …, "filter": …}')
    .option('--rate <records>', 'records per second at most (default: 1000)', wholeNumber)
    .option('--transforms <file>', 'options of transforms that replace those of the connector: properties or JSON')
    .option('--id <replay>', 'for status and stop: the replay, if not the last one', wholeNumber)
    .option('--follow', 'wait until the replay has ended')
    .option('--json', 'print the answer as one line of JSON')
    .action(async (connector: string, action: DeadLetterAction, flags: DeadLetterFlags) => {
      const { runDeadLetters } = await import('./dead-letters.ts');
      process.exitCode = await orError(runDeadLetters(connector, action, flags));
    });
}

/** Declares `history`: the changes of one connector, and restoring an earlier configuration. */
function addHistory(program: Command): void {
  withAddress(program.command('history'))
    .description('show what was changed about a connector and by whom, and restore an earlier configuration')
    .argument('<connector>', 'the connector, also one that was deleted')
    .addArgument(
      new Argument('[action]', 'what to do').choices(HISTORY_ACTIONS).default('list' satisfies HistoryAction),
    )
    .argument('[n]', 'for show and restore: the number of a change, as the list shows it', wholeNumber)
    .addHelpText('after', '\nExample:\n  sluice history orders restore 41')
    .option('--json', 'print the answer as one line of JSON')
    .action(async (connector: string, action: HistoryAction, n: number | undefined, flags: HistoryFlags) => {
      const { runHistory } = await import('./history.ts');
      process.exitCode = await orError(runHistory(connector, action, n, flags));
    });
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('It must be a number from 1.');
  return Number(text);
}

function withCluster(command: Command): Command {
  return withAddress(command.argument('<folder>', 'the files'));
}

function withAddress(command: Command): Command {
  return command
    .option('--url <url>', 'REST API of a worker (default: http://localhost:8083)')
    .option('--user <name>', 'user of the REST API; the password comes from SLUICE_PASSWORD')
    .option('--password-file <file>', 'the password in a file')
    .option('--cacert <file>', "CA certificates (PEM) that verify the worker's certificate");
}

function withPlan(command: Command): Command {
  return withCluster(command)
    .option(
      '--var-file <file>',
      'values of variables, as properties or JSON; they take precedence over the environment',
    )
    .option('--prune', 'delete connectors that are in no file')
    .option('--no-dry-run', 'do not try new and changed sinks with the newest messages of their first topic')
    .option('--json', 'print the result as one line of JSON');
}

async function orError(work: Promise<number>): Promise<number> {
  return work.catch((error: unknown) => {
    process.stderr.write(`${toError(error).message}\n`);
    return EXIT_ERROR;
  });
}
