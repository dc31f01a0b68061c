/** What the members of a group agree on; consumers and Connect workers differ in this alone. */
export interface GroupProtocol {
  /** `consumer` or `connect`. */
  readonly type: string;
  /** In order of preference, with what this member says of itself; asked at every join. */
  protocols(): readonly { readonly name: string; readonly metadata: Buffer }[];
  /** Asked of the leader alone: an assignment per member. Who is left out gets zero bytes. */
  assign(join: LeaderView): Promise<ReadonlyMap<string, Buffer>>;
}

export interface LeaderView {
  /** Of the leader itself, who is one of the members. */
  readonly leaderId: string;
  readonly protocol: string;
  readonly generationId: number;
  /** A static leader came back: what the group has stays as it is, and nothing is to be assigned. */
  readonly skipsAssignment: boolean;
  readonly members: readonly {
    readonly memberId: string;
    /** `group.instance.id`; `undefined`: a dynamic member. */
    readonly instanceId: string | undefined;
    readonly metadata: Buffer;
  }[];
}

export interface GroupOptions {
  readonly groupId: string;
  /** Of a static member, which keeps its place in the group for a session without being there; absent: a dynamic one. */
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

/** What the caller has to be told: rejoin, or give up what was assigned; see `state`. */
export type MemberListener = (state: MemberState) => void;
