import type { ServiceCommand } from '../service-process.ts';
import type { BrokerPlace } from './properties.ts';

/** One way to run a broker. */
export interface Launcher {
  readonly origin: 'kafka-home' | 'maven' | 'docker';
  /** Address the broker has to listen on so that 127.0.0.1 of this machine reaches it. */
  readonly listenHost: string;
  /** Makes the data folder ready where it is not yet; safe to be interrupted. */
  prepare(place: BrokerPlace, signal?: AbortSignal): Promise<void>;
  command(place: BrokerPlace): Promise<Pick<ServiceCommand, 'command' | 'args' | 'environment'>>;
  /** A command that ends what a killed process leaves running; for launchers whose process is not the broker itself. */
  clearance?(place: BrokerPlace): readonly [string, ...string[]];
  deleteData(place: BrokerPlace): Promise<void>;
}
