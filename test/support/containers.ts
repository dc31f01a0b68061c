import { brokerProperties, propertiesEnvironment } from '../../src/dev/kafka/properties.ts';
import { kafkaVersion } from '../../src/dev/kafka/jars.ts';
import { freePort } from '../../src/dev/ports.ts';

/** The images of docker-compose.yml. */
const KAFKA_IMAGE = `apache/kafka:${kafkaVersion}`;
const POSTGRES_IMAGE = 'postgres:18.4';
/**
 * Start timeout of a service; the default of Testcontainers is 60 s. It is shorter than the timeout of a hook, so that
 * the error of the container is reported.
 */
const START_MS = 200_000;

/** Returns true if the tests start their services in containers. */
export function inContainers(): boolean {
  return process.env['SLUICE_TEST_SERVICES'] === 'containers';
}

/**
 * Downloads missing images. This happens before the run, because on a slow network it takes longer than any test
 * timeout.
 */
export async function fetchImages(say: (message: string) => void): Promise<void> {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers');
  const client = await getContainerRuntimeClient();
  for (const text of [KAFKA_IMAGE, POSTGRES_IMAGE]) {
    const image = ImageName.fromString(text);
    if (await client.image.exists(image)) continue;
    say(`fetching the image ${text}`);
    await client.image.pull(image);
  }
}

interface ContainerBroker {
  readonly bootstrapServers: string;
  end(): Promise<unknown>;
}

interface ContainerPostgres {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  end(): Promise<unknown>;
}

/**
 * Starts the broker in a container. Its port is the same inside and outside, because the broker advertises it to
 * clients.
 */
export async function containerBroker(): Promise<ContainerBroker> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const [port, controllerPort] = [await freePort(), await freePort()];
  const properties = brokerProperties({ dataDir: '/tmp/kafka', port, controllerPort, listenHost: '0.0.0.0' });
  const container = await new GenericContainer(KAFKA_IMAGE)
    .withEnvironment(propertiesEnvironment(properties))
    .withExposedPorts({ container: port, host: port })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .withStartupTimeout(START_MS)
    .start();
  return { bootstrapServers: `127.0.0.1:${String(port)}`, end: () => container.stop() };
}

export async function containerPostgres(): Promise<ContainerPostgres> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const password = 'postgres';
  const container = await new GenericContainer(POSTGRES_IMAGE)
    .withEnvironment({
      POSTGRES_PASSWORD: password,
      // By default, the image sorts text as in English. The servers of all other runs sort by code points.
      POSTGRES_INITDB_ARGS: '--locale=C --locale-provider=builtin --builtin-locale=C.UTF-8',
    })
    .withExposedPorts(5432)
    .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=200'])
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .withStartupTimeout(START_MS)
    .start();
  return {
    host: container.getHost(),
    port: container.getMappedPort(5432),
    user: 'postgres',
    password,
    end: () => container.stop(),
  };
}
