import { brokerProperties, propertiesEnvironment } from '../../src/dev/kafka/properties.ts';
import { freePort } from '../../src/dev/ports.ts';

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

/** The broker in a container. Its port is the same inside and outside, since it tells clients which to use. */
export async function containerBroker(): Promise<ContainerBroker> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const [port, controllerPort] = [await freePort(), await freePort()];
  const properties = brokerProperties({ dataDir: '/tmp/kafka', port, controllerPort, listenHost: '0.0.0.0' });
  const container = await new GenericContainer('apache/kafka:4.3.1')
    .withEnvironment(propertiesEnvironment(properties))
    .withExposedPorts({ container: port, host: port })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start();
  return { bootstrapServers: `127.0.0.1:${String(port)}`, end: () => container.stop() };
}

export async function containerPostgres(): Promise<ContainerPostgres> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const password = 'postgres';
  const container = await new GenericContainer('postgres:18.4')
    .withEnvironment({ POSTGRES_PASSWORD: password })
    .withExposedPorts(5432)
    .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=200'])
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start();
  return {
    host: container.getHost(),
    port: container.getMappedPort(5432),
    user: 'postgres',
    password,
    end: () => container.stop(),
  };
}
