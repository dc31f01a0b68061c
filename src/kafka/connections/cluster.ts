import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { BrokerConnection } from './broker-connection.ts';
import { addressText, type BrokerAddress, type ConnectionConfig } from '../config/connection-config.ts';
import { ErrorCode } from '../errors/error-codes.ts';
import { BrokerUnreachableError, ClosedError, DroppedError, KafkaError } from '../errors/kafka-errors.ts';
import { type LibraryLogger, libraryLogger } from '../library/kafkajs-internals.ts';
import type { NetworkMetrics } from '../metrics/network-metrics.ts';
import { metadataCall, type MetadataResponse } from './metadata-protocol.ts';
import { Apis, libraryCall, type Call } from '../protocol/protocol.ts';

/**
 * Each purpose has its own connection, because a broker processes the requests of a connection in order. On a shared
 * connection, a metadata request was delayed by 2 s behind a waiting JoinGroup, and by 5 s behind a Produce whose replica had
 * failed.
 */
export type Purpose = 'main' | 'fetch' | 'produce' | 'group';

const COORDINATORS = { group: 0, transaction: 1 } as const;
/** As in Java, the node id of a coordinator is this constant minus the broker id. */
const COORDINATOR_NODE_BASE = 2 ** 31 - 1;
type CoordinatorKind = keyof typeof COORDINATORS;

/** A client's view of a cluster: the brokers, one connection per broker and purpose, and the coordinators. */
export class Cluster {
  readonly config: ConnectionConfig;
  readonly metrics: NetworkMetrics | undefined;
  readonly #logger: Logger;
  readonly #libraryLogger: LibraryLogger;
  readonly #brokers = new Map<number, BrokerAddress>();
  readonly #connections = new Map<string, BrokerConnection>();
  readonly #coordinators = new Map<string, number>();
  /** Start of the outage, by address of each unreachable broker. The start and the end of an outage are each logged once. */
  readonly #unreachableSince = new Map<string, number>();
  #closed = false;

  constructor(config: ConnectionConfig, logger: Logger, metrics?: NetworkMetrics) {
    this.config = config;
    this.metrics = metrics;
    this.#logger = logger;
    this.#libraryLogger = libraryLogger(logger);
  }

  /** Requests metadata from any broker. Topic errors are part of the response. */
  async metadata(
    topics: readonly string[] | 'all',
    mayCreate = false,
    withOperations = false,
  ): Promise<MetadataResponse> {
    const response = await this.callAny(metadataCall(topics, mayCreate, withOperations));
    this.#updateBrokers(response);
    return response;
  }

  /** Tries brokers until one responds: connected ones first, then other known brokers, then other bootstrap servers. */
  async callAny<A>(call: Call<A>): Promise<A> {
    let failure: unknown;
    for (const address of this.#candidates()) {
      try {
        return await this.#send(address, 'main', call);
      } catch (error) {
        if (!(error instanceof BrokerUnreachableError)) throw error;
        failure = error;
      }
    }
    const names = this.config.bootstrapServers.map(addressText).join(', ');
    const last = failure === undefined ? '' : `; last error: ${toError(failure).message}`;
    throw new BrokerUnreachableError(`No broker could be reached (bootstrap.servers: ${names})${last}`, {
      cause: failure,
    });
  }

  async callNode<A>(nodeId: number, purpose: Purpose, call: Call<A>): Promise<A> {
    const address = this.#brokers.get(nodeId);
    if (address === undefined) throw new BrokerUnreachableError(`Broker ${String(nodeId)} is not part of the cluster`);
    return this.#send(address, purpose, call);
  }

  async callController<A>(call: Call<A>): Promise<A> {
    const { controllerId } = await this.metadata([]);
    return controllerId < 0 ? this.callAny(call) : this.callNode(controllerId, 'main', call);
  }

  /** Sends a request to the group's coordinator, which is looked up if it is unknown. */
  callCoordinator<A>(groupId: string, call: Call<A>): Promise<A> {
    return this.#callCoordinator('group', groupId, 'group', call);
  }

  callTransactionCoordinator<A>(transactionalId: string, call: Call<A>): Promise<A> {
    return this.#callCoordinator('transaction', transactionalId, 'main', call);
  }

  /** Called after errors like NOT_COORDINATOR, so that the next call looks up the coordinator again. */
  forgetCoordinator(id: string, kind: CoordinatorKind = 'group'): void {
    if (!this.#coordinators.delete(coordinatorKey(kind, id))) return;
    this.#logger.debug(
      { [kind === 'group' ? 'group' : 'transactionalId']: id },
      'The coordinator will be looked up again',
    );
  }

  /** Cancels requests that wait at the group's coordinator, such as a JoinGroup. */
  dropCoordinatorConnection(groupId: string): void {
    const address = this.#brokers.get(this.#coordinators.get(coordinatorKey('group', groupId)) ?? -1);
    if (address !== undefined) this.#connections.get(connectionKey(address, 'group'))?.drop();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.metrics?.end();
    const connections = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all(connections.map((connection) => connection.close()));
  }

  async #callCoordinator<A>(kind: CoordinatorKind, id: string, purpose: Purpose, call: Call<A>): Promise<A> {
    const nodeId = this.#coordinators.get(coordinatorKey(kind, id)) ?? (await this.#findCoordinator(kind, id));
    try {
      return await this.callNode(nodeId, purpose, call);
    } catch (error) {
      this.forgetCoordinator(id, kind);
      throw error;
    }
  }

  async #findCoordinator(kind: CoordinatorKind, id: string): Promise<number> {
    const call = libraryCall(Apis.findCoordinator, { groupId: id, coordinatorType: COORDINATORS[kind] });
    const { errorCode, errorMessage, coordinator } = await this.callAny(call);
    const what = kind === 'group' ? 'Group' : 'Transactional id';
    if (errorCode !== ErrorCode.none) throw KafkaError.ofCode(errorCode, `${what} ${id}`, errorMessage);
    this.#brokers.set(coordinator.nodeId, { host: coordinator.host, port: coordinator.port });
    this.#coordinators.set(coordinatorKey(kind, id), coordinator.nodeId);
    this.#logger.debug(
      { [kind === 'group' ? 'group' : 'transactionalId']: id, node: coordinator.nodeId },
      'Found the coordinator',
    );
    return coordinator.nodeId;
  }

  #candidates(): readonly BrokerAddress[] {
    const candidates = new Map<string, BrokerAddress>();
    const addAll = (addresses: Iterable<BrokerAddress>, open: boolean): void => {
      for (const address of addresses) {
        const isOpen = this.#connections.get(connectionKey(address, 'main'))?.isOpen() ?? false;
        if (isOpen === open) candidates.set(addressText(address), address);
      }
    };
    const known = [...this.#brokers.values()].sort(() => Math.random() - 0.5);
    addAll(known, true);
    addAll(this.config.bootstrapServers, true);
    addAll(known, false);
    addAll(this.config.bootstrapServers, false);
    return [...candidates.values()];
  }

  async #send<A>(address: BrokerAddress, purpose: Purpose, call: Call<A>): Promise<A> {
    if (this.#closed) throw new ClosedError('The client');
    const key = connectionKey(address, purpose);
    let connection = this.#connections.get(key);
    if (connection === undefined) {
      const { clientId, memberName = clientId } = this.config;
      const config = purpose === 'group' ? { ...this.config, clientId: memberName } : this.config;
      const meter = this.metrics && { metrics: this.metrics, node: this.#nodeName(address, purpose) };
      connection = new BrokerConnection(address, config, this.#libraryLogger, meter);
      this.#connections.set(key, connection);
    }
    try {
      const response = await connection.call(call);
      this.#noteReachable(address);
      return response;
    } catch (error) {
      const isOutage = error instanceof BrokerUnreachableError && !(error instanceof DroppedError);
      if (isOutage) this.#noteUnreachable(address, error);
      throw error;
    }
  }

  /**
   * Returns the node name as in Java's metrics, which distinguish coordinators from brokers. All bootstrap servers have the
   * name of Java's first one.
   */
  #nodeName(address: BrokerAddress, purpose: Purpose): string {
    const text = addressText(address);
    for (const [id, known] of this.#brokers) {
      if (addressText(known) === text) return `node-${String(purpose === 'group' ? COORDINATOR_NODE_BASE - id : id)}`;
    }
    return 'node--1';
  }

  #updateBrokers({ brokers }: MetadataResponse): void {
    if (brokers.length === 0) return;
    this.#brokers.clear();
    for (const { nodeId, host, port } of brokers) this.#brokers.set(nodeId, { host, port });
    const current = new Set([...this.#brokers.values(), ...this.config.bootstrapServers].map(addressText));
    for (const [key, connection] of this.#connections) {
      if (current.has(addressText(connection.address))) continue;
      this.#connections.delete(key);
      this.metrics?.forget(connection.node);
      this.#unreachableSince.delete(addressText(connection.address));
      void connection.close();
    }
  }

  #noteUnreachable(address: BrokerAddress, error: Error): void {
    const broker = addressText(address);
    if (this.#closed || this.#unreachableSince.has(broker)) return;
    this.#unreachableSince.set(broker, Date.now());
    this.#logger.warn({ broker, reason: error.message }, 'Broker is unreachable; reconnecting');
  }

  #noteReachable(address: BrokerAddress): void {
    const broker = addressText(address);
    const since = this.#unreachableSince.get(broker);
    if (since === undefined) return;
    this.#unreachableSince.delete(broker);
    this.#logger.info({ broker, outageMs: Date.now() - since }, 'Broker is reachable again');
  }
}

function connectionKey(address: BrokerAddress, purpose: Purpose): string {
  return `${addressText(address)}/${purpose}`;
}

function coordinatorKey(kind: CoordinatorKind, id: string): string {
  return `${kind}/${id}`;
}
