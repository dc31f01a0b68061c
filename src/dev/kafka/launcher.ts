import type { ServiceCommand } from '../service-process.ts';
import type { BrokerPlace } from './properties.ts';

/** One way to run a broker. */
export interface Launcher {
  readonly origin: 'kafka-home' | 'maven' | 'docker';
  /** Address on which the broker must listen to be reachable at 127.0.0.1 of this machine. */
  readonly listenHost: string;
  /** Formats the data folder or fetches the Docker image, if necessary; `signal` aborts this. */
  prepare(place: BrokerPlace, signal?: AbortSignal): Promise<void>;
  command(place: BrokerPlace): Promise<Pick<ServiceCommand, 'command' | 'args' | 'environment'>>;
  /**
   * A command that removes the container of a broker, which may outlive the Docker client that started it; absent if
   * the launched process is the broker itself.
   */
  clearance?(place: BrokerPlace): readonly [string, ...string[]];
  deleteData(place: BrokerPlace): Promise<void>;
}
