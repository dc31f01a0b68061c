/** Data folder and addresses of a local broker. */
export interface BrokerPlace {
  readonly dataDir: string;
  readonly port: number;
  readonly controllerPort: number;
  /** Address that the broker listens on; clients reach it at 127.0.0.1 in any case. */
  readonly listenHost: string;
  readonly extras?: BrokerExtras | undefined;
}

/** Additions to the plain listener of a broker. */
export interface BrokerExtras {
  /** `protocol`: one of Kafka's security protocols. */
  readonly listeners?: readonly { readonly name: string; readonly port: number; readonly protocol: string }[];
  readonly properties?: Readonly<Record<string, string>>;
  /** Arguments of `kafka-storage format`, such as `--add-scram`; ignored for a broker in a container. */
  readonly formatArguments?: readonly string[];
  /** Additional arguments of the Java process; ignored for a broker in a container. */
  readonly jvmArguments?: readonly string[];
}

/**
 * The properties of a one-node KRaft broker. It has static voters instead of a bootstrap list, so that the only voter
 * elects itself immediately, and the port of the controller may change between starts.
 */
export function brokerProperties({
  dataDir,
  port,
  controllerPort,
  listenHost,
  extras = {},
}: BrokerPlace): Record<string, string> {
  const more = extras.listeners ?? [];
  const at = (host: string): string =>
    [{ name: 'PLAINTEXT', port }, ...more].map((each) => `${each.name}://${host}:${String(each.port)}`).join(',');
  const protocols = more.map(({ name, protocol }) => `,${name}:${protocol}`).join('');
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${String(controllerPort)}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `${at(listenHost)},CONTROLLER://127.0.0.1:${String(controllerPort)}`,
    'advertised.listeners': at('127.0.0.1'),
    'listener.security.protocol.map': `PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT${protocols}`,
    'log.dirs': dataDir,
    // A killed broker can only register again after its session has timed out, which takes 9 s by default.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
    'auto.create.topics.enable': 'false',
    'group.initial.rebalance.delay.ms': '0',
    'offsets.topic.num.partitions': '1',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.num.partitions': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    // By default the cleaner allocates 128 MB, but the topics have only a few hundred keys here.
    'log.cleaner.dedupe.buffer.size': '16777216',
    // By default the files of a deleted topic are removed after a minute.
    'log.segment.delete.delay.ms': '1000',
    ...extras.properties,
  };
}

/** Renders a `.properties` file, which Java reads as Latin-1. */
export function propertiesText(properties: Readonly<Record<string, string>>): string {
  const unicode = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const escape = (value: string): string => value.replace(/\\/g, '\\\\').replace(/[^\x20-\x7e]/g, unicode);
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${escape(value)}\n`)
    .join('');
}

/** Converts properties to the environment variables of the `apache/kafka` image (`log.dirs` -> `KAFKA_LOG_DIRS`). */
export function propertiesEnvironment(properties: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [`KAFKA_${name.toUpperCase().replaceAll('.', '_')}`, value]),
  );
}
