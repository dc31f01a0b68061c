import assert from 'node:assert/strict';
import { availableBytes, hostMetrics, parseInterfaces, renderHostMetrics } from '../../../src/dev/host-metrics.ts';
import type { CoreTimes, HostSample } from '../../../src/dev/host-metrics.ts';

const netDev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 9007199254740993   15146    0    0    0     0          0         0 18446744073709551615   7    0    0    0     0       0          0
br 0: 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0
`;

function core(user: number, system: number, idle: number): CoreTimes {
  return { user, system, idle, total: user + system + idle };
}

function sample(change: Partial<HostSample> = {}): HostSample {
  return {
    timeMs: 1_700_000_000_000,
    host: 'box',
    cores: [],
    memory: { totalBytes: 1000, availableBytes: 750 },
    load: [0.5, 1, 1.5],
    interfaces: [],
    ...change,
  };
}

describe('host metrics', () => {
  it('keep 64-bit counters to the last digit', () => {
    const lines = renderHostMetrics(sample({ interfaces: parseInterfaces(netDev) }));
    assert.deepEqual(
      lines.filter((line) => line.startsWith('host_network')),
      [
        'host_network,host=box,interface=lo bytes_recv=9007199254740993i,bytes_sent=18446744073709551615i,' +
          'packets_recv=15146i,packets_sent=7i 1700000000000',
        'host_network,host=box,interface=br\\ 0 bytes_recv=1i,bytes_sent=3i,packets_recv=2i,packets_sent=4i 1700000000000',
      ],
    );
  });

  it('have memory in whole bytes and the load unchanged', () => {
    assert.deepEqual(renderHostMetrics(sample()), [
      'host_memory,host=box total=1000i,available=750i,used=250i,used_percent=25 1700000000000',
      'host_load,host=box load1=0.5,load5=1,load15=1.5 1700000000000',
    ]);
  });

  it('have the usage of each core since the previous sample, and of all cores together', () => {
    const before = sample({ cores: [core(100, 10, 1000), core(0, 0, 0)] });
    const after = sample({ cores: [core(150, 35, 1025), core(0, 0, 100)] });
    assert.deepEqual(
      renderHostMetrics(after, before).filter((line) => line.startsWith('host_cpu')),
      [
        'host_cpu,host=box,cpu=cpu-total usage_user=25,usage_system=12.5,usage_idle=62.5 1700000000000',
        'host_cpu,host=box,cpu=cpu0 usage_user=50,usage_system=25,usage_idle=25 1700000000000',
        'host_cpu,host=box,cpu=cpu1 usage_user=0,usage_system=0,usage_idle=100 1700000000000',
      ],
    );
  });

  it('escape special characters of line protocol', () => {
    const [memory] = renderHostMetrics(sample({ host: 'a b,c=d' }));
    assert.match(memory ?? '', /^host_memory,host=a\\ b\\,c\\=d total=/);
    assert.match(renderHostMetrics(sample({ host: '' }))[0] ?? '', /^host_memory,host=unknown /);
  });

  it('use the memory that programs can still allocate as available memory', () => {
    assert.equal(availableBytes('MemFree:  10 kB\nMemAvailable:   2048 kB\n'), 2_097_152);
    assert.equal(availableBytes(''), undefined);
  });

  it('are produced at a constant interval until they are stopped', async () => {
    const over = new AbortController();
    const samples: (readonly string[])[] = [];
    for await (const lines of hostMetrics(5, over.signal)) {
      samples.push(lines);
      if (samples.length === 3) over.abort();
    }
    assert.equal(samples.length, 3);
    assert.ok(samples.every((lines) => lines.some((line) => line.startsWith('host_load,'))));
  });
});
