import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { readPropertiesFile } from '../../config/properties-file.ts';
import { ConfigError, toError } from '../../errors.ts';
import { SecretMask } from '../../observe/secret-mask.ts';
import { applyPlan } from './apply.ts';
import { ConnectClient } from './connect-client.ts';
import { readConnectorFiles, type DesiredConnector } from './connector-files.ts';
import { exportConnectors, propertiesText, type FileFormat } from './export.ts';
import { planText } from './plan-text.ts';
import { differs, makePlan, type Plan, type PlannedCluster } from './plan.ts';

export interface ClusterFlags {
  readonly url?: string;
  readonly user?: string;
  readonly passwordFile?: string;
  readonly cacert?: string;
}

export interface PlanFlags extends ClusterFlags {
  readonly varFile?: string;
  readonly prune?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export interface ExportFlags extends ClusterFlags {
  readonly format: FileFormat;
  readonly force?: boolean;
  readonly secretsFile?: string;
}

const EXIT_ERROR = 1;
const EXIT_DIFFERENCES = 2;

interface Prepared extends PlannedCluster {
  readonly client: ConnectClient;
  readonly desired: readonly DesiredConnector[];
  readonly secrets: SecretMask;
}

/**
 * Runs `sluice plan` and returns its exit code: 1 if a configuration is not valid; 2 with `detailedExitcode` if
 * something differs; otherwise 0.
 */
export async function runPlan(folder: string, flags: PlanFlags & { detailedExitcode?: boolean }): Promise<number> {
  const { plan } = await prepare(folder, flags);
  print(flags.json === true ? jsonText(plan) : planText(plan));
  if (!isValid(plan)) return EXIT_ERROR;
  return flags.detailedExitcode === true && plan.connectors.some(differs) ? EXIT_DIFFERENCES : 0;
}

/**
 * Runs `sluice apply` and returns its exit code: 0 if all changes succeeded and the configurations are then as the files
 * describe them, otherwise 1.
 */
export async function runApply(folder: string, flags: PlanFlags & { yes?: boolean }): Promise<number> {
  const prepared = await prepare(folder, flags);
  const { plan, client, desired, secrets } = prepared;
  const json = flags.json === true;
  if (!json) print(planText(plan));
  if (!isValid(plan)) {
    if (json) print(jsonText(plan));
    throw new ConfigError('Nothing was applied: not all configurations are valid');
  }
  if (!plan.connectors.some(differs)) {
    if (json) print(jsonText({ ...plan, applied: [] }));
    return 0;
  }
  if (flags.yes !== true) await confirm();
  const applied = await applyPlan(prepared, {
    client,
    desired,
    secrets,
    report: ({ name, action, error }) => {
      if (!json) print(`${action} ${name}: ${error ?? 'done'}\n`);
    },
  });
  const after = await makePlan({ client, desired, prune: flags.prune ?? false, dryRun: false, secrets });
  const left = after.plan.connectors.filter(
    (one) => one.changes.length > 0 || ['create', 'delete'].includes(one.action),
  );
  const failed = applied.filter(({ error }) => error !== undefined);
  if (json) print(jsonText({ ...plan, applied, differing: left.map(({ name }) => name) }));
  else if (failed.length > 0)
    print(`${String(applied.length - failed.length)} applied, ${String(failed.length)} failed\n`);
  else if (left.length > 0)
    print(`Applied, but these connectors differ again: ${left.map(({ name }) => name).join(', ')}\n`);
  else print(`${String(applied.length)} applied; the cluster is as the files describe it\n`);
  return failed.length > 0 || left.length > 0 ? EXIT_ERROR : 0;
}

/** Runs `sluice export` and returns its exit code. */
export async function runExport(folder: string, flags: ExportFlags): Promise<number> {
  const { format, force = false, secretsFile } = flags;
  const client = await clientOf(flags);
  const { files, variables, warnings } = await exportConnectors({ client, folder, format, force });
  for (const file of files) print(`${file}\n`);
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  const names = Object.keys(variables);
  if (names.length === 0) return 0;
  if (secretsFile === undefined) {
    process.stderr.write(`warning: the secrets are not in the files; set these variables: ${names.join(', ')}\n`);
    return 0;
  }
  await writeSecrets(secretsFile, propertiesText(variables), force);
  process.stderr.write(`warning: ${secretsFile} has the secrets in clear text; it is for --var-file\n`);
  return 0;
}

async function writeSecrets(path: string, text: string, force: boolean): Promise<void> {
  try {
    await writeFile(path, text, { flag: force ? 'w' : 'wx', mode: 0o600 });
  } catch (error) {
    throw new ConfigError(`The file with the secrets cannot be written: ${toError(error).message}`, { cause: error });
  }
}

async function prepare(folder: string, flags: PlanFlags): Promise<Prepared> {
  const secrets = new SecretMask();
  const { varFile, prune = false, dryRun = true } = flags;
  const own = varFile === undefined ? {} : await readPropertiesFile(varFile);
  const desired = await readConnectorFiles({
    folder,
    variables: { ...process.env, ...own },
    learn: (secret) => {
      secrets.add(secret);
    },
    except: varFile === undefined ? [] : [varFile],
  });
  const client = await clientOf(flags);
  return { client, desired, secrets, ...(await makePlan({ client, desired, prune, dryRun, secrets })) };
}

/** @throws ConfigError: the URL is not valid, or a file cannot be read */
export async function clientOf({
  url = 'http://localhost:8083',
  user,
  passwordFile,
  cacert,
}: ClusterFlags): Promise<ConnectClient> {
  const password =
    passwordFile === undefined
      ? process.env['SLUICE_PASSWORD']
      : (await readable(passwordFile)).toString().replace(/\r?\n$/, '');
  const ca = cacert === undefined ? undefined : await readable(cacert);
  return new ConnectClient({ url, user, password, ca });
}

async function readable(path: string): Promise<Buffer> {
  return readFile(path).catch((error: unknown) => {
    throw new ConfigError(`Cannot read ${path}: ${toError(error).message}`, { cause: error });
  });
}

async function confirm(): Promise<void> {
  if (!process.stdin.isTTY) throw new ConfigError('Nothing was applied: without a terminal to ask, --yes is needed');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const said = await terminal.question('Apply this plan? Only yes is accepted: ');
    if (said.trim() !== 'yes') throw new ConfigError('Nothing was applied');
  } finally {
    terminal.close();
  }
}

function isValid({ connectors }: Plan): boolean {
  return connectors.every(({ errors }) => errors.length === 0);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function print(text: string): void {
  process.stdout.write(text);
}
