/** The embedded protocol of a group. Consumers and Connect workers embed different protocols. */
export interface GroupProtocol {
  /** `consumer` or `connect`. */
  readonly type: string;
  /** Protocols in order of preference, each with the member's metadata. Called for every join. */
  protocols(): readonly { readonly name: string; readonly metadata: Buffer }[];
  /** Called on the leader only. Returns the assignments by member id. Members without an entry receive zero bytes. */
  assign(join: LeaderView): Promise<ReadonlyMap<string, Buffer>>;
}

export interface LeaderView {
  readonly leaderId: string;
  readonly protocol: string;
  readonly generationId: number;
  /** Set if this is a returning static leader: the group keeps its assignments (KIP-814). */
  readonly skipsAssignment: boolean;
  readonly members: readonly {
    readonly memberId: string;
    /** `group.instance.id`; `undefined` for a dynamic member. */
    readonly instanceId: string | undefined;
    readonly metadata: Buffer;
  }[];
}

export interface GroupOptions {
  readonly groupId: string;
  /** `group.instance.id` of a static member, which keeps its assignment during a restart; absent for a dynamic member. */
  readonly instanceId?: string | undefined;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
}

export interface Generation {
  readonly generationId: number;
  readonly memberId: string;
  readonly leaderId: string;
  readonly isLeader: boolean;
  readonly protocol: string;
  readonly assignment: Buffer;
}

export type MemberState = 'unjoined' | 'joining' | 'stable' | 'rebalancing' | 'lost' | 'failed' | 'left';

/** Called after each change of state. */
export type MemberListener = (state: MemberState) => void;
