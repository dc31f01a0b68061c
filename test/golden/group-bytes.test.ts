import assert from 'node:assert/strict';
import {
  decodeAssignment,
  decodeMetadata,
  encodeAssignment,
  encodeMetadata,
  type ConnectProtocolName,
  type MemberAssignment,
  type Work,
} from '../../src/herder/group/group-bytes.ts';
import { taskKey } from '../../src/herder/group/task-key.ts';
import { readGolden } from './golden-data.ts';

interface Entry {
  readonly connector: string;
  readonly tasks: readonly number[];
}

interface Decoded {
  readonly version: number;
  readonly url?: string;
  readonly error?: number;
  readonly leader?: string;
  readonly leaderUrl?: string;
  readonly configOffset: number;
  readonly assigned?: readonly Entry[];
  readonly revoked?: readonly Entry[];
  readonly delay?: number;
  readonly allocation?: Decoded | null;
}

interface GroupCase {
  readonly kind: 'metadata' | 'assignment';
  readonly protocol: ConnectProtocolName;
  readonly when: string;
  readonly hex: string;
  readonly decoded: Decoded;
}

function workOf(entries: readonly Entry[] = []): Work {
  return {
    connectors: entries.flatMap(({ connector, tasks }) => (tasks.includes(-1) ? [connector] : [])),
    tasks: entries.flatMap(({ connector, tasks }) =>
      tasks.filter((task) => task >= 0).map((task) => ({ connector, task })),
    ),
  };
}

function assignmentOf(decoded: Decoded): MemberAssignment {
  return {
    error: decoded.error === 1 ? 'config-mismatch' : 'none',
    leader: decoded.leader ?? '',
    leaderUrl: decoded.leaderUrl ?? '',
    configOffset: decoded.configOffset,
    assigned: workOf(decoded.assigned),
    revoked: workOf(decoded.revoked),
    delayMs: decoded.delay ?? 0,
  };
}

describe('bytes of the worker group', () => {
  it('are read and written as the Java worker does', function () {
    const cases = readGolden<{ cases: GroupCase[] }>('connect-group/group-bytes.json')?.cases;
    if (cases === undefined) return this.skip();
    for (const { kind, protocol, hex, decoded, when } of cases) {
      const bytes = Buffer.from(hex, 'hex');
      if (kind === 'metadata') {
        const { url = '', configOffset, allocation } = decoded;
        const expected = {
          url,
          configOffset,
          allocation: allocation === null || allocation === undefined ? null : assignmentOf(allocation),
        };
        assert.deepEqual(decodeMetadata(bytes), expected, when);
        assert.equal(encodeMetadata(decodeMetadata(bytes), protocol).toString('hex'), hex, when);
      } else {
        assert.deepEqual(decodeAssignment(bytes), assignmentOf(decoded), when);
        assert.equal(encodeAssignment(decodeAssignment(bytes), protocol).toString('hex'), hex, when);
      }
    }
    console.log(`      group-bytes: ${String(cases.length)} of ${String(cases.length)} recorded cases hold`);
  });

  it('of a draining member are those of any other up to their end, where Java stops reading', () => {
    const allocation = assignmentOf({ version: 2, configOffset: 4, leader: 'sluice-1', leaderUrl: 'http://a:8083/' });
    for (const protocol of ['default', 'compatible', 'sessioned'] as const) {
      const metadata = {
        url: 'http://b:8083/',
        configOffset: 7,
        allocation: protocol === 'default' ? null : allocation,
      };
      const plain = encodeMetadata(metadata, protocol);
      const draining = encodeMetadata({ ...metadata, draining: true }, protocol);
      assert.deepEqual(draining.subarray(0, plain.length), plain);
      assert.deepEqual(decodeMetadata(draining), { ...metadata, draining: true });
      assert.deepEqual(
        decodeMetadata(Buffer.concat([plain, Buffer.from([0, 1])])),
        metadata,
        'other additions count for nothing',
      );
    }
  });

  it('of members that hand tasks over are those of any other up to their end, and what is damaged or too much is left out', () => {
    const handover = (group: string) => ({
      groupId: group,
      memberId: `member-of-${group}`,
      generationId: 4,
      isLeader: true,
      protocol: 'range',
      assignment: 'AAAB',
      topics: ['a'],
      partitions: { a: 3 },
    });
    const handovers = new Map([
      [taskKey({ connector: 'one', task: 0 }), handover('one')],
      [taskKey({ connector: 'ü', task: 11 }), handover('ü')],
    ]);
    const assignment = assignmentOf({ version: 2, configOffset: 4, leader: 'sluice-1', leaderUrl: 'http://a:8083/' });
    const metadata = { url: 'http://b:8083/', configOffset: 7, allocation: assignment };
    for (const protocol of ['compatible', 'sessioned'] as const) {
      const plain = encodeAssignment(assignment, protocol);
      const bytes = encodeAssignment({ ...assignment, handovers }, protocol);
      assert.deepEqual(bytes.subarray(0, plain.length), plain);
      assert.deepEqual(decodeAssignment(bytes), { ...assignment, handovers });
      assert.deepEqual(decodeAssignment(bytes.subarray(0, -1)), assignment);
      const damaged = Buffer.from(bytes.toString('latin1').replace('"generationId":4', '"generationId":"'), 'latin1');
      assert.deepEqual(decodeAssignment(damaged), assignment);
      for (const draining of [{}, { draining: true }]) {
        const told = { ...metadata, ...draining, handovers };
        assert.deepEqual(decodeMetadata(encodeMetadata(told, protocol)), told);
      }
    }
    const many = new Map(
      Array.from({ length: 1000 }, (_, task) => [taskKey({ connector: 'many', task }), handover('many')] as const),
    );
    const bounded = encodeMetadata({ ...metadata, handovers: many }, 'sessioned');
    assert.ok(bounded.length < 20_000, String(bounded.length));
    assert.ok((decodeMetadata(bounded).handovers?.size ?? 0) > 50);
  });
});
