import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { freePort } from '../../src/dev/ports.ts';
import { database } from '../support/services.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_CONNECTIONS = 1_000;
const ASK_EVERY_MS = 200;
const ATTACK_MS = 8_000;
const MAX_GROWTH_MB = 400;

interface Target {
  readonly name: string;
  readonly open: () => Socket;
}

const HEAD = 'POST /connectors HTTP/1.1\r\nHost: localhost\r\n';
const JSON_BODY = 'Content-Type: application/json\r\nContent-Length: 8000000\r\n\r\n';
const INTERNAL = `POST /connectors/x/tasks HTTP/1.1\r\nHost: localhost\r\nX-Connect-Authorization: ${'A'.repeat(43)}=\r\nX-Connect-Request-Signature-Algorithm: HmacSHA256\r\n`;

/**
 * The bytes that each connection sends first. Afterwards it stays open, sends a byte now and then, and reads nothing.
 */
const ATTACKS: readonly (readonly [name: string, bytes: string])[] = [
  ['nothing', ''],
  ['headers that do not end', `${HEAD}X-Slow: ${'x'.repeat(15_000)}`],
  ['bodies that do not end', `${HEAD}${JSON_BODY}{"name":"${'x'.repeat(120_000)}`],
  ['bodies of other workers', `${INTERNAL}${JSON_BODY}${'x'.repeat(120_000)}`],
  [
    'bodies in chunks of a byte',
    `${HEAD}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(500)}`,
  ],
  ['answers that are not read', 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  [
    'statements without credentials',
    `POST /restapi/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000000\r\n\r\n${'x'.repeat(120_000)}`,
  ],
];

/**
 * Unauthenticated clients occupy as many resources as they can at both HTTP APIs of a worker. Prints the growth of the
 * worker's memory, and how long clients with another address waited meanwhile. Fails if such a client waits for longer
 * than the time limit of slow clients, or if the memory exceeds its limit.
 */
export const hostileClients: Repeat = {
  unit: 'connections of each attack',
  defaultCount: DEFAULT_CONNECTIONS,
  async run({ count = DEFAULT_CONNECTIONS, print }: RepeatOptions): Promise<boolean> {
    const directory = await mkdtemp(join(tmpdir(), 'sluice-hostile-'));
    const access = await database('hostile');
    const port = await freePort();
    const worker = await WorkerProcess.start({
      readyTimeoutMs: 300_000,
      properties: {
        services: 'database-http',
        'database.http.listeners': `https://127.0.0.1:${String(port)}`,
        'database.http.connection.url': `jdbc:db://${access.host}:${String(access.port)}`,
        'database.http.default.database': access.database,
        'database.http.tls.directory': directory,
      },
    });
    const management = Number(new URL(worker.url).port);
    const targets: readonly [Target, Target] = [
      { name: 'management API', open: () => connect(management, '127.0.0.1') },
      { name: 'database API', open: () => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }) },
    ];
    let isKept = true;
    try {
      const { statuses, slowestMs } = await attack(worker, management, targets[0], '', 0);
      print(`     without an attack: ${String(statuses.length)} requests, slowest ${slowestMs.toFixed(0)} ms`);
      for (const target of targets) {
        for (const [name, bytes] of ATTACKS) {
          const { grownMb, statuses, slowestMs } = await attack(worker, management, target, bytes, count);
          const isGood =
            grownMb < MAX_GROWTH_MB &&
            statuses.every((status) => status === 200 || status === 503) &&
            statuses.at(-1) === 200;
          isKept &&= isGood;
          const answers = `${String(statuses.length)} requests of others, slowest ${slowestMs.toFixed(0)} ms`;
          const others = statuses.filter((status) => status !== 200);
          const refused =
            others.length === 0 ? '' : `, ${String(others.length)} not answered (${[...new Set(others)].join()})`;
          print(
            `${isGood ? 'ok  ' : 'FAIL'} ${target.name}, ${String(count)} × ${name}: +${grownMb.toFixed(0)} MB, ${answers}${refused}`,
          );
        }
      }
      assert.equal((await worker.rest.get('/connectors')).status, 200);
    } finally {
      await worker.discard();
      await rm(directory, { recursive: true, force: true });
    }
    return isKept;
  },
};

async function attack(worker: WorkerProcess, port: number, target: Target, bytes: string, count: number) {
  const before = await residentMb(worker);
  const sockets: Socket[] = [];
  const sent = Buffer.from(bytes, 'latin1');
  let mostMb = before;
  let slowestMs = 0;
  const statuses: (number | string)[] = [];
  const until = performance.now() + ATTACK_MS;
  const opened = (async () => {
    for (let index = 0; index < count; index++) {
      const socket = target.open();
      socket.on('error', () => undefined);
      socket.pause();
      socket.write(sent);
      sockets.push(socket);
      if (index % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const trickle = setInterval(() => {
    for (const socket of sockets) if (!socket.destroyed && socket.writableLength === 0) socket.write('x');
  }, 1_000);
  while (performance.now() < until) {
    const began = performance.now();
    statuses.push(await ask(port));
    slowestMs = Math.max(slowestMs, performance.now() - began);
    mostMb = Math.max(mostMb, await residentMb(worker));
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  await opened;
  clearInterval(trickle);
  const left = sockets.filter(({ closed }) => !closed);
  await Promise.all(left.map((socket) => once(socket.destroy(), 'close')));
  return { grownMb: mostMb - before, statuses, slowestMs };
}

/** Sends a request from another address. Resolves with the status, or with the reason why there is none. */
async function ask(port: number): Promise<number | string> {
  return new Promise((resolve) => {
    const options = {
      port,
      host: '127.0.0.1',
      localAddress: '127.0.0.2',
      path: '/connectors',
      agent: false,
      timeout: 30_000,
    };
    const asked = request(options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    asked.on('timeout', () => asked.destroy(new Error('timeout')));
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asked.end();
  });
}

async function residentMb(worker: WorkerProcess): Promise<number> {
  const status = await readFile(`/proc/${String(worker.pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
}
