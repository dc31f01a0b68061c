import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalKafka } from '../../../src/dev/kafka.ts';
import { chooseLauncher } from '../../../src/dev/kafka/choose.ts';

// A broker as far as the start-up probe goes: answers every request with correlation id 1 and one registered broker.
const dockerStandIn = `#!/bin/sh
echo "$@" >> "$CALLS"
[ "$1" = run ] || exit 0
exec "$NODE" -e '
  const port = Number(process.argv.find((word) => word.startsWith("127.0.0.1:")).split(":")[1]);
  require("node:net").createServer((socket) => {
    socket.on("error", () => undefined).once("data", () => socket.write(Buffer.from("000000080000000100000001", "hex")));
  }).listen(port, "127.0.0.1");
' "$@"
`;

describe('the choice of a local broker', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-choice-'));
    await mkdir(join(folder, 'bin'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function program(name: string, script: string): Promise<void> {
    await writeFile(join(folder, 'bin', name), script);
    await chmod(join(folder, 'bin', name), 0o755);
  }

  function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
    return { PATH: join(folder, 'bin'), XDG_CACHE_HOME: join(folder, 'cache'), NODE: process.execPath, ...more };
  }

  it('is refused with one message that names the four ways when there is none', async () => {
    await assert.rejects(chooseLauncher({ environment: environment() }), (error: Error) => {
      assert.match(error.message, /\(1\) .*BOOTSTRAP_SERVERS.*\(2\) KAFKA_HOME.*\(3\) Java 17.*Maven.*\(4\) .*Docker/);
      assert.match(
        error.message,
        /Tried here: KAFKA_HOME is not set; there is no Java 17 or later .*; no Docker engine/,
      );
      return true;
    });
  });

  it('says when Java is too old, and when Maven fails says why', async () => {
    await program('java', '#!/bin/sh\necho \'openjdk version "11.0.2"\' >&2\n');
    await assert.rejects(chooseLauncher({ environment: environment() }), /there is no Java 17 or later/);
    await program('java', '#!/bin/sh\necho \'openjdk version "17.0.2"\' >&2\n');
    await assert.rejects(chooseLauncher({ environment: environment() }), /Maven \(mvn\) is not on the path/);
    await program('mvn', '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "[ERROR] no route to host"; exit 1\n');
    const said: string[] = [];
    await assert.rejects(
      chooseLauncher({ environment: environment(), onProgress: (message) => said.push(message) }),
      /Maven could not fetch Kafka [\d.]+: \[ERROR\] no route to host; no Docker engine answers/,
    );
    assert.deepEqual(said, ['fetching Kafka 4.3.1 with Maven (at most 64 MB)']);
  });

  it('falls on Docker when only that is there, and leaves no container behind', async () => {
    await program('docker', dockerStandIn);
    const calls = join(folder, 'calls');
    const dataDir = join(folder, 'kafka');
    const kafka = await LocalKafka.start({ dataDir, environment: environment({ CALLS: calls }) });
    try {
      assert.equal(kafka.origin, 'docker');
      assert.equal(kafka.running, true);
    } finally {
      await kafka.discard();
    }
    assert.equal(kafka.running, false);
    const words = (await readFile(calls, 'utf8')).trim().split('\n');
    const port = String(kafka.port);
    const run = words.find((line) => line.startsWith('run ')) ?? '';
    assert.ok(run.includes(`--publish 127.0.0.1:${port}:${port}`), run);
    assert.ok(run.includes(`KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:${port},CONTROLLER://127.0.0.1:`), run);
    assert.ok(run.endsWith(' apache/kafka:4.3.1'), run);
    const [remove, deleteVolume] = words.slice(-2);
    assert.match(remove ?? '', /^rm --force sluice-kafka-[0-9a-f]{12}$/);
    assert.match(deleteVolume ?? '', /^volume rm --force sluice-kafka-[0-9a-f]{12}$/);
  });
});
