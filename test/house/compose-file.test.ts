import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { serviceOptions } from '../../plugins/database-http/options.ts';
import { environmentProperties } from '../../src/config/environment.ts';
import { withPrefix } from '../../src/config/worker-config.ts';
import { parseOptions } from '../../src/index.ts';
import { parseConnectionUrl } from '../../plugins/database/index.ts';
import { brokerProperties, propertiesEnvironment } from '../../src/dev/kafka/properties.ts';
import { admits, execForm, parseDockerfile } from '../support/dockerfile.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

interface Service {
  readonly image?: string;
  readonly build?: unknown;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly timeout?: string; readonly retries?: number };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
  readonly tmpfs?: string | readonly string[];
  readonly hostname?: string;
  readonly read_only?: boolean;
  readonly restart?: string;
  readonly entrypoint?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
}

/** VOLUME of the images that come from elsewhere. */
const FOREIGN_VOLUMES: Readonly<Record<string, readonly string[]>> = {
  'apache/kafka:4.3.1': ['/etc/kafka/secrets', '/var/lib/kafka/data', '/mnt/shared/config'],
  'postgres:18.4': ['/var/lib/postgresql'],
};

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

async function composeFile(): Promise<Compose> {
  return parse(await readFile(`${root}docker-compose.yml`, 'utf8'), { merge: true }) as Compose;
}

describe('docker-compose.yml', () => {
  let compose: Compose;

  before(async () => {
    compose = await composeFile();
  });

  it('is valid by the schema of the Compose specification', async () => {
    const schemaFile = createRequire(import.meta.url).resolve('docker-compose/schema/compose-spec.json');
    // It names draft 07 by an address that is not quite the draft's, and formats of its own (`duration`, `expose`).
    const { $schema: _, ...schema } = JSON.parse(await readFile(schemaFile, 'utf8')) as Record<string, unknown>;
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    assert.equal(validate(compose), true, JSON.stringify(validate.errors, null, 2));
    assert.equal(validate({ services: { kafka: { imag: 'typo' } } }), false);
  });

  it('has a health check behind every condition service_healthy, and declares every volume', async () => {
    const stages = parseDockerfile(await readFile(`${root}Dockerfile`, 'utf8'));
    const builtIn = stages.at(-1)?.instructions.some(({ keyword }) => keyword === 'HEALTHCHECK') === true;
    const { services, volumes } = compose;
    for (const { depends_on: awaited = {}, volumes: mounts = [] } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(awaited)) {
        const service = services[name];
        assert.equal(condition, 'service_healthy');
        assert.ok(service?.healthcheck?.test !== undefined || (service?.build !== undefined && builtIn), name);
      }
      for (const mount of mounts) assert.ok((mount.split(':')[0] ?? '') in volumes, mount);
    }
  });

  it('leaves no unnamed volume behind: every VOLUME of an image has a mount', async () => {
    const stage = parseDockerfile(await readFile(`${root}Dockerfile`, 'utf8')).at(-1);
    const own = stage?.instructions.filter(({ keyword }) => keyword === 'VOLUME').map(({ text }) => text) ?? [];
    assert.deepEqual(own, ['/var/lib/sluice']);
    for (const { image = '', volumes = [], tmpfs = [] } of Object.values(compose.services)) {
      const mounted = [...volumes.map((each) => each.split(':')[1]), ...[tmpfs].flat()];
      const declared = image === 'sluice' ? own : FOREIGN_VOLUMES[image];
      assert.deepEqual(mounted.toSorted(), declared?.toSorted(), image);
    }
  });

  it('takes its ports of this machine from variables, also the one that the broker tells its clients', () => {
    const variables = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name} ${/^127\.0\.0\.1:\$\{(\w+):-\d+\}:\d+$/.exec(port)?.[1] ?? port}`),
    );
    assert.deepEqual(variables, [
      'kafka SLUICE_KAFKA_PORT',
      'postgres SLUICE_POSTGRES_PORT',
      'worker SLUICE_REST_PORT',
      'worker SLUICE_DATABASE_HTTP_PORT',
    ]);
    const advertised = String(compose.services['kafka']?.environment?.['KAFKA_ADVERTISED_LISTENERS']);
    assert.match(advertised, /OUTSIDE:\/\/127\.0\.0\.1:\$\{SLUICE_KAFKA_PORT:-9092\}$/);
  });

  it('has checks that sleep while a service is healthy, for less than their time-out', () => {
    for (const name of ['kafka', 'postgres']) {
      const { test = [], timeout = '', retries } = compose.services[name]?.healthcheck ?? {};
      const [, seconds = ''] =
        /^\[\[ -e \$\$0 \]\] && sleep (\d+); rm -f \$\$0; .* && touch \$\$0$/.exec(test[3] ?? '') ?? [];
      assert.deepEqual([test[0], test[1], test[2], test[4]], ['CMD', 'bash', '-c', '/dev/shm/healthy']);
      assert.ok(Number(seconds) >= 30 && Number(seconds) + 5 < Number.parseInt(timeout, 10), `${seconds}, ${timeout}`);
      assert.equal(retries, 5);
    }
  });

  it('gives the worker and the samples no file system that they could write to but their volumes', () => {
    const readOnly = Object.entries(compose.services).filter(([, { read_only: is }]) => is === true);
    assert.deepEqual(
      readOnly.map(([name]) => name),
      ['worker', 'samples'],
    );
  });

  it('has the broker of `npm run dev`: its internal topics have one partition', () => {
    const dev = propertiesEnvironment(brokerProperties({ dataDir: '', port: 1, controllerPort: 2, listenHost: '' }));
    const environment = compose.services['kafka']?.environment ?? {};
    const shared = Object.keys(environment).filter((name) => /_TOPIC_|_LOG_(?!DIRS)|REBALANCE|CREATE/.test(name));
    assert.equal(shared.length, 11);
    for (const name of shared) assert.equal(String(environment[name]), dev[name], name);
  });

  it('starts every service again that ended, in whatever order they come up', () => {
    for (const [name, { restart }] of Object.entries(compose.services)) assert.equal(restart, 'unless-stopped', name);
  });

  it('runs the images that the tests run, and the programs that the image has', async () => {
    assert.equal(compose.services['kafka']?.image, 'apache/kafka:4.3.1');
    assert.equal(compose.services['postgres']?.image, 'postgres:18.4');
    const [program, file = ''] = compose.services['samples']?.entrypoint ?? [];
    assert.equal(program, 'node');
    const source = file.replace('/opt/sluice/dist/', root).replace(/\.js$/, '.ts');
    assert.match(await readFile(source, 'utf8'), /process\.argv\[1\]/);
  });
});

/** A text of the file where no variable is set. */
function byDefault(text: string): string {
  return text.replace(/\$\{\w+:-(\d+)\}/g, '$1');
}

describe('the worker of docker-compose.yml', () => {
  it('serves the database’s HTTP API on 8080 before the PostgreSQL beside it (M4)', async () => {
    const { services } = await composeFile();
    const { environment = {}, ports = [], hostname } = services['worker'] ?? {};
    const text = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)]));
    const { properties, warnings } = environmentProperties(text);
    assert.deepEqual(warnings, []);
    assert.equal(properties['services'], 'database-http');
    const settings = parseOptions(serviceOptions, withPrefix(properties, 'database.http.'));
    assert.deepEqual(settings.listeners, ['https://:8080']);
    const { servers, database } = parseConnectionUrl(settings['connection.url'], {
      user: 'sluice',
      database: settings['default.database'],
    });
    assert.deepEqual(servers, [{ host: 'postgres', port: 5432 }]);
    assert.equal(database, services['postgres']?.environment?.['POSTGRES_DB']);
    // The development certificate is for the host's name, which is a new one for every container otherwise.
    assert.equal(hostname, environment['CONNECT_REST_ADVERTISED_HOST_NAME']);
    // A user without rights cannot write where the image starts.
    const stage = parseDockerfile(await readFile(`${root}Dockerfile`, 'utf8')).at(-1);
    const volume = stage?.instructions.find(({ keyword }) => keyword === 'VOLUME')?.text ?? 'none';
    const variables = stage?.instructions.filter(({ keyword }) => keyword === 'ENV').map((each) => each.text) ?? [];
    assert.ok(variables.join(' ').includes(`CONNECT_DATABASE_HTTP_TLS_DIRECTORY=${volume}/`), variables.join(' '));
    assert.deepEqual(ports.map(byDefault), ['127.0.0.1:8083:8083', '127.0.0.1:8080:8080']);
  });
});

describe('the Dockerfile', () => {
  it('names one fixed version of Node, which engines admits and operators replace by NODE_IMAGE', async () => {
    const text = await readFile(`${root}Dockerfile`, 'utf8');
    const [, image = ''] = /^ARG NODE_IMAGE=(\S+)$/m.exec(text) ?? [];
    const [, major = '', minor = ''] = /^node:(\d+)\.(\d+)\.\d+-slim$/.exec(image) ?? [];
    const { engines } = JSON.parse(await readFile(`${root}package.json`, 'utf8')) as { engines: { node: string } };
    const [, leastMajor = '', leastMinor = ''] = /^>=(\d+)\.(\d+)\.\d+$/.exec(engines.node) ?? [];
    // Even lines alone get long-term support.
    assert.equal(Number(major) % 2, 0, image);
    assert.ok(Number(major) * 1000 + Number(minor) >= Number(leastMajor) * 1000 + Number(leastMinor), image);
    const froms = text.split('\n').filter((line) => line.startsWith('FROM '));
    for (const from of froms) assert.match(from, /^FROM \$\{NODE_IMAGE\}( AS \w+)?$/);
    assert.equal(froms.length, 3);
    // The lines of Node that `.ci/matrix` tests besides the oldest.
    const { 1: lines = '' } = /^for node in ([\d ]+);/m.exec(await readFile(`${root}.ci/matrix`, 'utf8')) ?? [];
    assert.ok(lines.split(' ').includes(major), `${major} is not one of ${lines}`);
  });

  it('copies only what .dockerignore lets through', async () => {
    const stages = parseDockerfile(await readFile(`${root}Dockerfile`, 'utf8'));
    const copies = stages
      .flatMap(({ instructions }) => instructions)
      .filter(({ keyword, text }) => keyword === 'COPY' && !text.includes('--from='));
    for (const { text } of copies) {
      for (const path of text.split(' ').slice(0, -1)) {
        assert.equal(await admits(`${root}.dockerignore`, path), true, path);
      }
    }
  });

  it('has a health check that asks the worker, and sleeps first where the worker was healthy', async () => {
    const stage = parseDockerfile(await readFile(`${root}Dockerfile`, 'utf8')).at(-1);
    assert.ok(stage !== undefined);
    const folder = await mkdtemp(join(tmpdir(), 'sluice-health-'));
    let status = 200;
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${String(request.method)} ${String(request.url)}`);
      response.writeHead(status).end();
    });
    try {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const port = String((server.address() as AddressInfo).port);
      const [program = '', ...args] = execForm(stage, 'HEALTHCHECK').map((word) =>
        word.replace('/8083', `/${port}`).replace('/dev/shm', folder),
      );
      await writeFile(join(folder, 'sleep'), `#!/bin/sh\necho "$1" >> '${folder}/slept'\n`, { mode: 0o755 });
      const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
      const check = async (): Promise<string> => {
        const result = await run(program, args, { env }).then(
          () => 'healthy',
          () => 'not',
        );
        return `${result} ${(await readdir(folder)).sort().join(' ')}`;
      };
      assert.equal(await check(), 'healthy healthy sleep');
      assert.equal(await check(), 'healthy healthy sleep slept');
      status = 500;
      assert.equal(await check(), 'not sleep slept');
      await rm(join(folder, 'slept'));
      assert.equal(await check(), 'not sleep');
      status = 200;
      assert.equal(await check(), 'healthy healthy sleep');
      assert.deepEqual(new Set(asked), new Set(['GET /health']));
      server.closeAllConnections();
      server.close();
      assert.equal(await check(), 'not sleep slept');
      assert.equal(await readFile(join(folder, 'slept'), 'utf8'), '30\n');
    } finally {
      server.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('starts a distributed worker as a user without rights', async () => {
    const stage = parseDockerfile(await readFile(`${root}Dockerfile`, 'utf8')).at(-1);
    assert.ok(stage !== undefined);
    assert.deepEqual(execForm(stage, 'ENTRYPOINT'), ['node', '/opt/sluice/dist/src/cli.js']);
    assert.deepEqual(execForm(stage, 'CMD'), ['start']);
    assert.equal(stage.instructions.find(({ keyword }) => keyword === 'USER')?.text, '1001:0');
  });
});
