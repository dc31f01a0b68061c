import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { ConnectError } from '../../errors.ts';
import { ImageDownload, type OnProgress } from '../progress.ts';
import { runWithOutput } from '../run-with-output.ts';
import { kafkaVersion } from './jars.ts';
import type { Launcher } from './launcher.ts';
import { brokerProperties, propertiesEnvironment, type BrokerPlace } from './properties.ts';

const image = `apache/kafka:${kafkaVersion}`;
const dataFolderInside = '/var/lib/kafka/data';

const run = promisify(execFile);

/** Whether a Docker engine answers; the client may be installed without an engine. */
export async function hasDocker(environment: NodeJS.ProcessEnv): Promise<boolean> {
  const options = { env: environment, timeout: 5000 };
  return run('docker', ['version', '--format', '{{.Server.Version}}'], options).then(
    () => true,
    () => false,
  );
}

/**
 * Runs the broker in a container. Its data is in a volume named after the data folder, because the user of the image cannot write to a
 * folder of this machine.
 */
export function dockerLauncher(environment: NodeJS.ProcessEnv, onProgress?: OnProgress): Launcher {
  const name = ({ dataDir }: BrokerPlace): string =>
    `sluice-kafka-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`;
  const clearance = (place: BrokerPlace): readonly [string, ...string[]] => ['docker', 'rm', '--force', name(place)];
  return {
    origin: 'docker',
    listenHost: '0.0.0.0',
    clearance,
    prepare: async (_place, signal) => {
      const options = { env: environment, ...(signal && { signal }) };
      const present = await run('docker', ['image', 'inspect', image], options).then(
        () => true,
        () => false,
      );
      if (present) return;
      onProgress?.(`fetching the image ${image}`);
      const download = new ImageDownload(image);
      await runWithOutput(['docker', 'pull', image], { environment, signal }, (line) => {
        const progress = download.read(line);
        if (progress !== undefined) onProgress?.(progress, true);
      }).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw new ConnectError(`Docker could not fetch ${image}`, { cause: error });
      });
    },
    command: (place) => Promise.resolve({ command: 'docker', args: runArguments(name(place), place), environment }),
    deleteData: async (place) => {
      await run('docker', ['volume', 'rm', '--force', name(place)], { env: environment });
    },
  };
}

function runArguments(name: string, place: BrokerPlace): readonly string[] {
  const port = String(place.port);
  const inside = propertiesEnvironment(brokerProperties({ ...place, dataDir: dataFolderInside }));
  const variables = Object.entries(inside).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  const mounts = ['--publish', `127.0.0.1:${port}:${port}`, '--volume', `${name}:${dataFolderInside}`];
  return ['run', '--rm', '--name', name, ...mounts, ...variables, '--env', 'KAFKA_HEAP_OPTS=-Xmx512m', image];
}
