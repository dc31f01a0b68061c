import { ok, warn, type Finding } from '../../../src/data/finding.ts';
import type { Logger } from '../../../src/observe/logger.ts';
import type { Connection } from './connection.ts';
import {
  answerOf,
  delivers,
  keepsBackend,
  keepsSettingsLocal,
  locksExclude,
  readVersion,
  rollsBackCopies,
  upsertsArrays,
} from './probe-checks.ts';
import type { Answer, ProbeDemands, ServerProbe } from './probe-result.ts';

/** Opens a second connection to the same server. */
export type OpenAnother = () => Promise<Connection>;

/** Maximum number of results that are kept. */
const MAX_SERVERS = 64;
/**
 * How long a result is reused if a check was answered with other than `yes`. Afterwards the server is probed again,
 * because the cause may have been fixed.
 */
const DOUBTFUL_FOR_MS = 60_000;

interface Entry {
  readonly probe: Promise<ServerProbe>;
  readonly askedAt: number;
}

const known = new Map<string, Entry>();

/**
 * Probes the server of a connection, once for each `instance` and kind of use (`writes`). Later calls in this thread
 * return the same result; if a check for this kind of use was answered with other than `yes`, the result is reused for a
 * minute only. The checks leave no changes behind. Rejects only if the server becomes unavailable.
 */
export async function probeOnce(
  connection: Connection,
  instance: string,
  { openAnother, writes, logger }: ProbeDemands & { readonly openAnother: OpenAnother; readonly logger: Logger },
): Promise<ServerProbe> {
  const { host, port } = connection.server;
  const server = `${host}:${String(port)}`;
  const key = `${instance} ${String(writes)}`;
  const entry = known.get(key);
  if (entry !== undefined) {
    const probe = await entry.probe.catch(() => undefined);
    const isFresh = performance.now() - entry.askedAt < DOUBTFUL_FOR_MS;
    if (probe !== undefined && (isFresh || !isDoubtful(probe, writes))) return probe;
  }
  const probe = probeServer(server, connection, openAnother, writes);
  known.delete(key);
  known.set(key, { probe, askedAt: performance.now() });
  const [oldest] = known.keys();
  if (known.size > MAX_SERVERS && oldest !== undefined) known.delete(oldest);
  logger.info(probeLine(await probe));
  return probe;
}

async function probeServer(
  server: string,
  one: Connection,
  openAnother: OpenAnother,
  writes: boolean,
): Promise<ServerProbe> {
  const { version, isStandby } = await readVersion(one);
  const other = await openAnother().catch(() => undefined);
  const alone = async (check: (connection: Connection) => Promise<Answer>): Promise<Answer> =>
    answerOf(check, one, one);
  const paired = async (check: (first: Connection, second: Connection) => Promise<Answer>): Promise<Answer> =>
    other === undefined ? 'unknown' : answerOf(check, other, one);
  const mayWrite = writes && !isStandby;
  try {
    return {
      server,
      version: version.split(' on ')[0] ?? version,
      sharesBackends: (await paired(keepsBackend)) === 'no' || one.hasSharedBackends,
      rollsBackCopies: mayWrite ? await alone(rollsBackCopies) : 'unknown',
      locksExclude: await paired(locksExclude),
      keepsSettingsLocal: await alone(keepsSettingsLocal),
      delivers: await paired(delivers),
      upsertsArrays: mayWrite ? await alone(upsertsArrays) : 'unknown',
    };
  } finally {
    await other?.close().catch(() => undefined);
  }
}

function isDoubtful(probe: ServerProbe, writes: boolean): boolean {
  const { rollsBackCopies: copies, upsertsArrays: upserts, locksExclude: locks, keepsSettingsLocal: local } = probe;
  return [...(writes ? [copies, upserts] : []), locks, local, probe.delivers].some((answer) => answer !== 'yes');
}

/** The reason why rows of tables with a key cannot be replaced; `undefined` if no reason is known. */
export function upsertProblem({ server, upsertsArrays: upserts }: ServerProbe): string | undefined {
  if (upserts !== 'no') return undefined;
  return `the database server ${server} does not support INSERT … ON CONFLICT with rows from arrays`;
}

/** The reason why rows cannot be written exactly once; `undefined` if no reason is known. */
export function exactlyOnceProblem({ server, rollsBackCopies: copies, locksExclude: locks }: ServerProbe) {
  if (copies === 'no') {
    return `the database server ${server} keeps rows of a COPY whose transaction is rolled back, so that exactly-once would be a lie; use at-least-once`;
  }
  if (locks === 'no') {
    return `advisory locks of the database server ${server} keep nobody out, so that exactly-once would be a lie; use at-least-once`;
  }
  return undefined;
}

/** Describes, one sentence each, how the server differs from PostgreSQL and what follows from it. */
function differences(probe: ServerProbe): string[] {
  const { server } = probe;
  const sentences: string[] = [];
  if (probe.rollsBackCopies === 'no') {
    sentences.push(
      `The database server ${server} keeps rows of a COPY that is rolled back; rows are written by INSERT.`,
    );
  }
  if (probe.locksExclude === 'no') {
    sentences.push(
      `Advisory locks of the database server ${server} keep nobody out; changes of tables may collide and are then repeated.`,
    );
  }
  if (probe.keepsSettingsLocal === 'no') {
    sentences.push(`Local settings of the database server ${server} outlast their transaction.`);
  }
  if (probe.upsertsArrays === 'no') {
    sentences.push(
      `The database server ${server} does not support INSERT … ON CONFLICT with rows from arrays; rows are only written to tables without a key, or with insert.mode=insert.`,
    );
  }
  return sentences;
}

function poolerSentence({ server }: ServerProbe): string {
  return `A connection pooler is in front of the database server ${server}; no statements are prepared, and settings last for one transaction.`;
}

/** The hints in the health of a connector, one sentence each. */
export function probeHints(probe: ServerProbe): string[] {
  return [...differences(probe), ...(probe.sharesBackends ? [poolerSentence(probe)] : [])];
}

/** The reason why a connection cannot use LISTEN; `undefined` if notifications arrive or if this is unknown. */
export function notificationProblem({ server, delivers: isDelivering }: ServerProbe): string | undefined {
  if (isDelivering !== 'no') return undefined;
  return `Notifications of the database server ${server} do not arrive, as behind a pooler in transaction mode; name the server itself or a pooler in session mode in connection.url.`;
}

/** The findings for `sluice doctor`. */
export function probeFindings(probe: ServerProbe): Finding[] {
  const about = 'behaviour of the server';
  const notifications = notificationProblem(probe);
  const problems = [...differences(probe), ...(notifications === undefined ? [] : [notifications])];
  return [
    ...(problems.length === 0 ? [ok(about, answersText(probe))] : problems.map((problem) => warn(about, problem))),
    ...(probe.sharesBackends ? [ok('connection pooler', poolerSentence(probe))] : []),
  ];
}

function probeLine(probe: ServerProbe): string {
  const pooler = probe.sharesBackends ? ', behind a connection pooler' : '';
  return `Probed the database server ${probe.server}: ${probe.version}${pooler}; ${answersText(probe)}`;
}

function answersText(probe: ServerProbe): string {
  const answers: readonly (readonly [string, Answer])[] = [
    ['rollback of COPY', probe.rollsBackCopies],
    ['advisory locks', probe.locksExclude],
    ['local settings', probe.keepsSettingsLocal],
    ['notifications', probe.delivers],
    ['upsert of arrays', probe.upsertsArrays],
  ];
  return answers.map(([name, answer]) => `${name}: ${answer}`).join(', ');
}
