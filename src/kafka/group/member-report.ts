import type { MemberHeartbeat, PartitionsById } from './consumer-heartbeat-protocol.ts';

/** Either topic names or a pattern in RE2 syntax, which the broker evaluates. */
export interface HeartbeatSubscription {
  readonly topics: readonly string[];
  readonly regex: string;
}

type Settings = Pick<MemberHeartbeat, 'rackId' | 'rebalanceTimeoutMs' | 'assignor'>;
type ReportedFields = Settings & Pick<MemberHeartbeat, 'topics' | 'regex' | 'owned'>;

/**
 * The subscription and the owned partitions of a member, and which of these the coordinator knows. A heartbeat that
 * joins the group or follows a failed one contains all fields; any other contains only those that have changed since
 * the previous one, and the owned partitions if they acknowledge a new target.
 */
export class MemberReport {
  readonly #settings: Settings;
  #subscription: HeartbeatSubscription = { topics: [], regex: '' };
  #owned: PartitionsById = new Map();
  /** Serialized subscription of the last heartbeat; `undefined` if it must be sent again. */
  #sentSubscription: string | undefined;
  #sentOwned: string | undefined;
  /** The target that the last call of `own` acknowledged. */
  #acknowledgedTarget: PartitionsById | undefined;

  constructor({ rackId, rebalanceTimeoutMs, assignor }: Settings) {
    this.#settings = { rackId, rebalanceTimeoutMs, assignor };
  }

  /** Resets the report for a member that joins the group without partitions. */
  reset(subscription: HeartbeatSubscription): void {
    this.#subscription = subscription;
    this.#owned = new Map();
    this.resendAll();
  }

  /** Sets the subscription. Returns whether a heartbeat must be sent. */
  subscribe(subscription: HeartbeatSubscription): boolean {
    this.#subscription = subscription;
    return this.#subscriptionText() !== this.#sentSubscription;
  }

  /** Sets the owned partitions and acknowledges the target. Returns whether a heartbeat must be sent. */
  own(owned: PartitionsById, target: PartitionsById | undefined): boolean {
    this.#owned = owned;
    if (this.#ownedText() === this.#sentOwned && target === this.#acknowledgedTarget) return false;
    this.#acknowledgedTarget = target;
    this.#sentOwned = undefined;
    return true;
  }

  /** Includes all fields in the next heartbeat. */
  resendAll(): void {
    this.#sentSubscription = undefined;
    this.#sentOwned = undefined;
  }

  /** Returns the fields of the next heartbeat and marks them as sent. */
  next(isJoining: boolean): Partial<ReportedFields> {
    const [subscription, owned] = [this.#subscriptionText(), this.#ownedText()];
    const isComplete = isJoining || this.#sentSubscription === undefined;
    const fields = {
      ...(isComplete ? this.#settings : {}),
      ...(isComplete || subscription !== this.#sentSubscription ? this.#subscription : {}),
      ...(isComplete || owned !== this.#sentOwned ? { owned: this.#owned } : {}),
    };
    this.#sentSubscription = subscription;
    this.#sentOwned = owned;
    return fields;
  }

  #subscriptionText(): string {
    return JSON.stringify(this.#subscription);
  }

  #ownedText(): string {
    return JSON.stringify([...this.#owned]);
  }
}
