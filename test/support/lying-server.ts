import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import pg from 'pg';
import { listenOnNewPort } from './new-port.ts';
import { randomFrom } from './random.ts';
import type { TestDatabase } from './services.ts';

/** Differences from PostgreSQL; see `LyingServer`. */
export interface Lies {
  /** A COPY is committed after this many rows, whatever happens to its transaction. */
  readonly commitsCopyEvery?: number;
  /** Advisory locks keep nobody out. */
  readonly ignoresLocks?: boolean;
  /** The share of writing statements and commits, and with `reads` of queries too, that fail with 40001, chosen by the seed. */
  readonly failing?: { readonly share: number; readonly seed: number; readonly reads?: boolean };
  /** Each transaction of a connection runs in another backend than the one before, as behind a pooler. */
  readonly swapsBackends?: boolean;
  /** INSERT with rows from arrays and a conflict clause is refused. */
  readonly refusesUpserts?: boolean;
  /** The server says that it was started later than the real one, as another server does. */
  readonly startedLater?: boolean;
}

const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
const HEAD_BYTES = 5;
const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4]);
/** Signature, flags and length of the extension of COPY's binary format. */
const BINARY_HEAD_BYTES = 19;
const BINARY_TRAILER = Buffer.from([0xff, 0xff]);

interface Message {
  readonly type: string;
  /** Type and length included. */
  readonly bytes: Buffer;
}

/**
 * A server that speaks the protocol of PostgreSQL and does not do what PostgreSQL does: a proxy on 127.0.0.1 before a real
 * one, to which it logs in itself. It represents relatives of PostgreSQL that cannot be run here.
 */
export class LyingServer {
  readonly #server: Server;
  readonly #target: TestDatabase;
  readonly #sessions = new Set<LyingSession>();
  /** Statements that were made to fail with 40001. */
  failures = 0;
  /** Whether statements are made to fail as `failing` says. */
  isFailing = true;

  private constructor(server: Server, target: TestDatabase, lies: Lies) {
    this.#server = server;
    this.#target = target;
    const random = randomFrom(lies.failing?.seed ?? 0);
    const fails = (): boolean => {
      if (lies.failing === undefined || !this.isFailing || random() >= lies.failing.share) return false;
      this.failures += 1;
      return true;
    };
    server.on('connection', (client) => {
      const session = new LyingSession(client, target, lies, fails);
      this.#sessions.add(session);
      client.once('close', () => this.#sessions.delete(session));
    });
  }

  static async start(target: TestDatabase, lies: Lies): Promise<LyingServer> {
    const server = createServer();
    await listenOnNewPort(server);
    return new LyingServer(server, target, lies);
  }

  /** The same database by way of the proxy. */
  get database(): TestDatabase {
    const { port } = this.#server.address() as AddressInfo;
    const url = new URL(this.#target.url);
    url.host = `127.0.0.1:${String(port)}`;
    return { ...this.#target, host: '127.0.0.1', port, url: url.href };
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.close();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** A connection of a client: starting -> (logged in) passing messages on, one after another -> closed */
class LyingSession {
  readonly #client: Socket;
  readonly #target: TestDatabase;
  readonly #lies: Lies;
  readonly #fails: () => boolean;
  readonly #backends: Backend[] = [];
  #current = 0;
  #isStarted = false;
  #received = Buffer.alloc(0);
  #turn: Promise<void> = Promise.resolve();
  /** A COPY whose rows are being collected. */
  #copy: { readonly script: Buffer; readonly rows: Buffer[] } | undefined;

  constructor(client: Socket, target: TestDatabase, lies: Lies, fails: () => boolean) {
    this.#client = client;
    this.#target = target;
    this.#lies = lies;
    this.#fails = fails;
    client.on('data', (piece: Buffer) => {
      this.#received = Buffer.concat([this.#received, piece]);
      this.#readAll();
    });
    client.on('error', () => this.close());
    client.on('close', () => this.close());
  }

  close(): void {
    this.#client.destroy();
    for (const backend of this.#backends) backend.close();
  }

  #readAll(): void {
    for (;;) {
      const lengthAt = this.#isStarted ? 1 : 0;
      if (this.#received.length < lengthAt + 4) return;
      const end = lengthAt + this.#received.readUInt32BE(lengthAt);
      if (this.#received.length < end) return;
      const bytes = this.#received.subarray(0, end);
      this.#received = this.#received.subarray(end);
      if (!this.#isStarted && bytes.readUInt32BE(4) === SSL_REQUEST) {
        this.#client.write('N');
        continue;
      }
      const isFirst = !this.#isStarted;
      this.#isStarted = true;
      this.#turn = this.#turn
        .then(() => (isFirst ? this.#start(bytes) : this.#pass({ type: String.fromCharCode(bytes[0] ?? 0), bytes })))
        .catch(() => this.close());
    }
  }

  async #start(bytes: Buffer): Promise<void> {
    if (bytes.readUInt32BE(4) === CANCEL_REQUEST) {
      const { host, port } = this.#target;
      connect({ host, port })
        .on('error', () => undefined)
        .end(bytes);
      this.#client.end();
      return;
    }
    const texts = bytes.subarray(8).toString().split('\0');
    const parameters = new Map<string, string>();
    for (let index = 0; index + 1 < texts.length; index += 2)
      parameters.set(texts[index] ?? '', texts[index + 1] ?? '');
    for (let count = 0; count < (this.#lies.swapsBackends === true ? 2 : 1); count++) {
      this.#backends.push(await Backend.open(this.#target, parameters, (message) => this.#answer(message), this));
    }
    this.#client.write(Buffer.concat([message('R', Buffer.alloc(4)), this.#backends[0]?.greeting ?? Buffer.alloc(0)]));
  }

  async #pass(given: Message): Promise<void> {
    const backend = this.#backends[this.#current];
    if (backend === undefined) return;
    if (this.#copy !== undefined && 'dcf'.includes(given.type)) {
      if (given.type === 'd') this.#copy.rows.push(given.bytes.subarray(HEAD_BYTES));
      else await this.#endCopy(backend, this.#copy);
      return;
    }
    const sent = this.#falsified(given);
    const every = this.#lies.commitsCopyEvery;
    const text = sent.type === 'Q' ? sent.bytes.toString('utf8', HEAD_BYTES) : '';
    if (every !== undefined && /\bCOPY\b[^;]*\bFROM STDIN\b[^;]*$/.test(text)) {
      this.#copy = { script: sent.bytes, rows: [] };
      return;
    }
    const failure = sent === given ? undefined : FAILURES.find(({ sql }) => sent.bytes.includes(sql));
    if (failure !== undefined) backend.failure = failure;
    backend.send(sent.bytes);
  }

  /** Commits the rows in parts; the answer is that of one COPY. */
  async #endCopy(backend: Backend, { script, rows }: { script: Buffer; rows: readonly Buffer[] }): Promise<void> {
    this.#copy = undefined;
    const all = Buffer.concat(rows);
    const isBinary = script.includes('FORMAT binary');
    const pieces = isBinary
      ? splitBinary(all, this.#lies.commitsCopyEvery ?? 1)
      : splitText(all, this.#lies.commitsCopyEvery ?? 1);
    const isInTransaction = backend.status === 'T';
    let answers: Message[] = [];
    for (const piece of pieces) {
      answers = await backend.exchange(Buffer.concat([script, message('d', piece), COPY_DONE]));
      if (answers.some(({ type }) => type === 'E')) break;
      if (isInTransaction) await backend.exchange(message('Q', Buffer.from('COMMIT; BEGIN\0')));
    }
    for (const answer of answers) this.#client.write(answer.bytes);
    this.#swap(backend);
  }

  #answer(answer: Message): void {
    // A pooler does not know to whom a notification of a backend that nobody uses belongs.
    if (answer.type === 'A' && this.#lies.swapsBackends === true) return;
    this.#client.write(answer.bytes);
    const backend = this.#backends[this.#current];
    if (answer.type === 'Z' && backend !== undefined) this.#swap(backend);
  }

  #swap(backend: Backend): void {
    if (backend.status === 'I') this.#current = (this.#current + 1) % this.#backends.length;
  }

  #falsified(given: Message): Message {
    if (given.type !== 'Q' && given.type !== 'P') return given;
    const nameEnd = given.type === 'Q' ? HEAD_BYTES : given.bytes.indexOf(0, HEAD_BYTES) + 1;
    const textEnd = given.bytes.indexOf(0, nameEnd);
    const text = given.bytes.toString('utf8', nameEnd, textEnd);
    let changed = text;
    if (this.#lies.ignoresLocks === true) {
      changed = changed
        .replaceAll(/pg_try_advisory_xact_lock\(([^()]*)\)/g, '($1 IS NOT NULL)')
        .replaceAll('pg_advisory_xact_lock(', 'pg_catalog.abs(');
    }
    if (this.#lies.startedLater === true) {
      const started = 'pg_catalog.pg_postmaster_start_time()';
      changed = changed.replaceAll(started, `(${started} + '1 second'::pg_catalog.interval)`);
    }
    if (this.#lies.refusesUpserts === true && ARRAY_UPSERT.test(text)) changed = UNSUPPORTED.sql;
    const mayFail = this.#lies.failing?.reads === true ? READS_AND_WRITES : WRITES;
    if (mayFail.test(text) && this.#fails()) changed = ROLLED_BACK.sql;
    if (changed === text) return given;
    const body = [given.bytes.subarray(HEAD_BYTES, nameEnd), Buffer.from(changed), given.bytes.subarray(textEnd)];
    return { type: given.type, bytes: message(given.type, Buffer.concat(body)) };
  }
}

const WRITES = /\b(?:INSERT|UPDATE|COPY|COMMIT)\b/;
const READS_AND_WRITES = /\b(?:INSERT|UPDATE|COPY|COMMIT|SELECT|FETCH)\b/i;

const ARRAY_UPSERT = /\bunnest\(.*\bON CONFLICT\b/s;

/** `sql` is sent in place of a statement. It is no statement, and the proxy turns the error into another one. */
interface Failure {
  readonly sql: string;
  readonly sqlstate: string;
  readonly message: string;
}

const ROLLED_BACK: Failure = {
  sql: 'could_not_serialize_access',
  sqlstate: '40001',
  message: 'could not serialize access due to concurrent update',
};
const UNSUPPORTED: Failure = {
  sql: 'upsert_is_not_supported',
  sqlstate: '0A000',
  message: 'ON CONFLICT is not supported here',
};
const FAILURES = [ROLLED_BACK, UNSUPPORTED];

/** A connection to the real server, after the login. */
class Backend {
  readonly #socket: Socket;
  readonly #onMessage: (message: Message) => void;
  /** ParameterStatus, BackendKeyData and ReadyForQuery, as the client gets them. */
  readonly greeting: Buffer;
  status = 'I';
  /** The failure with which the server answers next. */
  failure: Failure | undefined;
  #received = Buffer.alloc(0);
  #collected: Message[] | undefined;
  #waiters: (() => void)[] = [];
  #pending = 0;

  private constructor(socket: Socket, greeting: Buffer, onMessage: (message: Message) => void, onEnd: () => void) {
    this.#socket = socket;
    this.greeting = greeting;
    this.#onMessage = onMessage;
    socket.on('data', (piece: Buffer) => {
      this.#received = Buffer.concat([this.#received, piece]);
      this.#readAll();
    });
    for (const event of ['error', 'close']) {
      socket.on(event, () => {
        this.#notify();
        onEnd();
      });
    }
  }

  static async open(
    { host, port, user, password, database }: TestDatabase,
    parameters: ReadonlyMap<string, string>,
    onMessage: (message: Message) => void,
    session: { close(): void },
  ): Promise<Backend> {
    const client = new pg.Client({
      host,
      port,
      user,
      password,
      database,
      options: parameters.get('options'),
      application_name: parameters.get('application_name'),
    });
    const statuses: Buffer[] = [];
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter & { stream: Socket } };
    connection.on('parameterStatus', (each: { parameterName: string; parameterValue: string }) => {
      statuses.push(message('S', Buffer.from(`${each.parameterName}\0${each.parameterValue}\0`)));
    });
    await client.connect();
    const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
    const key = Buffer.alloc(8);
    key.writeInt32BE(processID);
    key.writeInt32BE(secretKey, 4);
    const { stream } = connection;
    for (const event of ['data', 'error', 'close', 'end']) stream.removeAllListeners(event);
    const greeting = Buffer.concat([...statuses, message('K', key), message('Z', Buffer.from('I'))]);
    return new Backend(stream, greeting, onMessage, () => session.close());
  }

  send(bytes: Buffer): void {
    if (bytes[0] === 0x51 || bytes[0] === 0x53) this.#pending += 1;
    this.#socket.write(bytes);
  }

  /** Resolves when nothing that was sent awaits its ReadyForQuery. */
  async ready(): Promise<void> {
    while (this.#pending > 0 && !this.#socket.destroyed) await new Promise<void>((done) => this.#waiters.push(done));
  }

  /** Sends, and keeps the answers from the client. */
  async exchange(bytes: Buffer): Promise<Message[]> {
    const collected: Message[] = [];
    this.#collected = collected;
    this.send(bytes);
    await this.ready();
    this.#collected = undefined;
    return collected;
  }

  close(): void {
    this.#socket.destroy();
  }

  #readAll(): void {
    while (this.#received.length >= HEAD_BYTES) {
      const end = 1 + this.#received.readUInt32BE(1);
      if (this.#received.length < end) return;
      const given = { type: String.fromCharCode(this.#received[0] ?? 0), bytes: this.#received.subarray(0, end) };
      this.#received = this.#received.subarray(end);
      this.#take(given);
    }
  }

  #take(given: Message): void {
    const sent = given.type === 'E' && this.failure !== undefined ? errorMessage(this.failure) : given;
    if (given.type === 'E') this.failure = undefined;
    if (given.type === 'Z') {
      this.status = String.fromCharCode(given.bytes[HEAD_BYTES] ?? 0);
      this.#pending -= 1;
    }
    if (this.#collected !== undefined) this.#collected.push(sent);
    else this.#onMessage(sent);
    if (given.type === 'Z') this.#notify();
  }

  #notify(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }
}

function errorMessage({ sqlstate, message: text }: Failure): Message {
  const fields = ['SERROR', 'VERROR', `C${sqlstate}`, `M${text}`, ''];
  return { type: 'E', bytes: message('E', Buffer.from(fields.map((field) => `${field}\0`).join(''))) };
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(type, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function splitText(data: Buffer, every: number): Buffer[] {
  const lines = data.toString('latin1').split('\n').slice(0, -1);
  const pieces: Buffer[] = [];
  for (let index = 0; index < lines.length; index += every) {
    pieces.push(Buffer.from(`${lines.slice(index, index + every).join('\n')}\n`, 'latin1'));
  }
  return pieces;
}

function splitBinary(data: Buffer, every: number): Buffer[] {
  const head = data.subarray(0, BINARY_HEAD_BYTES);
  const pieces: Buffer[] = [];
  let start = BINARY_HEAD_BYTES;
  let rows = 0;
  for (let at = BINARY_HEAD_BYTES; data.readInt16BE(at) >= 0;) {
    let fields = data.readInt16BE(at);
    at += 2;
    for (; fields > 0; fields--) at += 4 + Math.max(0, data.readInt32BE(at));
    rows += 1;
    if (rows % every !== 0 && data.readInt16BE(at) >= 0) continue;
    pieces.push(Buffer.concat([head, data.subarray(start, at), BINARY_TRAILER]));
    start = at;
  }
  return pieces;
}
