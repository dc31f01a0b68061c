import { RequestError } from '../errors.ts';
import type { TaskId } from '../connect/task-assignment.ts';
import type { ConnectorDirectory } from './connector-directory.ts';
import type { Placement } from './group/placement.ts';
import { NotOwnerError } from './not-owner-error.ts';

/**
 * Checks whether this worker can process a request. If it cannot, throws a NotOwnerError with the URL of the worker to
 * which the request must be forwarded, if this URL is known.
 */
export class Ownership {
  readonly #placement: Placement;
  readonly #directory: ConnectorDirectory;

  constructor(placement: Placement, directory: ConnectorDirectory) {
    this.#placement = placement;
    this.#directory = directory;
  }

  /** Waits for the end of a rebalance. Then throws unless this worker leads the cluster. */
  async settledLead(): Promise<void> {
    await this.#placement.settled();
    this.requireLead();
  }

  /** Throws unless this worker leads the cluster now. */
  requireLead(): void {
    const { isLeader, leaderUrl } = this.#placement;
    if (!isLeader) throw new NotOwnerError('Only the leader can process this request.', leaderUrl);
  }

  /** Throws unless the connector exists and is assigned to this worker. */
  async requireConnector(name: string): Promise<void> {
    await this.#placement.settled();
    this.#directory.require(name, `Unknown connector: ${name}`);
    if (!this.#placement.ownsConnector(name)) throw this.#notOwner(name);
  }

  /** Throws unless the task exists and is assigned to this worker. `unknown` is the message of the 404. */
  async requireTask(id: TaskId, unknown: string): Promise<void> {
    await this.#placement.settled();
    const { taskConfigs } = this.#directory.require(id.connector, `Unknown connector: ${id.connector}`);
    if (taskConfigs[id.task] === undefined) throw new RequestError(404, unknown);
    if (!this.#placement.ownsTask(id)) throw this.#notOwner(id.connector, id.task);
  }

  /** Returns an error that refers to the owner if this worker is the leader, and otherwise to the leader. */
  #notOwner(connector: string, task?: number): NotOwnerError {
    if (!this.#placement.isLeader) {
      return new NotOwnerError('Only the leader can process restart requests.', this.#placement.leaderUrl);
    }
    const what = task === undefined ? 'connector' : 'task';
    const message = `Cannot restart ${what} since it is not assigned to this member`;
    return new NotOwnerError(message, this.#placement.ownerUrl(connector, task));
  }
}
