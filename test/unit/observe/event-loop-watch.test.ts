import assert from 'node:assert/strict';
import { EventLoopWatch } from '../../../src/observe/event-loop-watch.ts';
import type { Logger } from '../../../src/observe/logger.ts';

/** Nothing in here lets real timers run: the clock and the ticks are those of the test. */
describe('the watch over the event loop', () => {
  let now: number;
  let cpu: number;
  let warnings: string[];
  let watch: EventLoopWatch;
  let stop: () => void;

  const logger = {
    child: () => ({ warn: (text: string) => warnings.push(text) }),
  } as unknown as Logger;

  beforeEach(() => {
    [now, cpu, warnings] = [5_000, 700, []];
    watch = new EventLoopWatch({ nowMs: () => now, cpuMs: () => cpu, cpuOf: 'thread' });
    stop = watch.start(logger);
  });

  afterEach(() => stop());

  function compute(ms: number): void {
    now += ms;
    cpu += ms;
  }

  /** The event loop runs, with a tick every 20 ms. */
  function idle(ms: number): void {
    for (let passed = 0; passed < ms; passed += 20) {
      now += 20;
      watch.tick();
    }
  }

  it('shows the longest turn for a minute, and then forgets it', () => {
    assert.equal(watch.longestSeconds(), 0);
    compute(320);
    watch.tick();
    assert.equal(watch.longestSeconds(), 0.3);
    idle(30_000);
    compute(120);
    watch.tick();
    assert.equal(watch.longestSeconds(), 0.3);
    idle(29_000);
    assert.equal(watch.longestSeconds(), 0.3);
    idle(6_500);
    assert.equal(watch.longestSeconds(), 0.1);
    idle(30_000);
    assert.equal(watch.longestSeconds(), 0);
    assert.deepEqual(warnings, []);
  });

  it('counts the current turn', () => {
    compute(420);
    assert.equal(watch.longestSeconds(), 0.4);
  });

  it('warns of a turn of more than a second, and names what was entered last before the long stretch', async () => {
    await watch.during('put of task a-0', () => compute(5));
    void watch.during('GET /slow', () => new Promise<void>(() => undefined));
    await watch.during('put of task b-1', () => compute(1_300));
    await watch.during('GET /fast', () => compute(1));
    watch.tick();
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0] ?? '',
      /^The event loop of the main thread stood still for 1\.29 s, in which no other task, request/,
    );
    assert.match(warnings[0] ?? '', /\. Last entered: put of task b-1; also under way: GET \/slow\. /);
    assert.match(
      warnings[0] ?? '',
      /The thread used 1\.31 s of CPU time during it\. If this happens again: make its batches/,
    );
  });

  it('names the blocked thread, and whose CPU time it reports', () => {
    stop();
    watch = new EventLoopWatch({ nowMs: () => now, cpuMs: () => cpu, cpuOf: 'process' });
    stop = watch.start(logger, 'thread 2');
    compute(1_300);
    watch.tick();
    assert.match(
      warnings[0] ?? '',
      /^The event loop of thread 2 stood still for 1\.28 s, in which no other task, request or heartbeat of this thread /,
    );
    assert.match(warnings[0] ?? '', /The process used 1\.30 s of CPU time during it\./);
  });

  it('names activities in progress if none was entered before the long part', async () => {
    let goOn: () => void = () => undefined;
    const going = watch.during('put of task a-0', () => new Promise<void>((resolve) => (goOn = resolve)));
    for (const name of ['b', 'c', 'd']) void watch.during(name, () => new Promise<void>(() => undefined));
    idle(100);
    await watch.during('GET /metrics', () => compute(1));
    compute(2_000);
    watch.tick();
    assert.match(warnings[0] ?? '', /\. Nothing was entered just before; under way: d, c, b and 1 more\. /);
    goOn();
    await going;
  });

  it('says so when nothing is under way, and when the process was not computing', () => {
    now += 4_000;
    watch.tick();
    assert.match(warnings[0] ?? '', /\. No task and no request was under way\. /);
    assert.match(
      warnings[0] ?? '',
      /used 0\.00 s of CPU time during it, so it waited in a synchronous call, or the mach/,
    );
  });

  it('warns once a minute of each activity', async () => {
    const block = async (name: string) => {
      await watch.during(name, () => compute(1_500));
      watch.tick();
    };
    for (const name of ['a', 'a', 'b', 'a']) await block(name);
    assert.deepEqual(
      warnings.map((text) => /entered: (\w)/.exec(text)?.[1]),
      ['a', 'b'],
    );
    idle(60_000);
    await block('a');
    assert.equal(warnings.length, 3);
  });

  it('gives back and throws what the work does, and names it no more', async () => {
    assert.equal(await watch.during('a', () => 1), 1);
    const failing = watch.during('a', () => {
      throw new Error('no');
    });
    await assert.rejects(failing, /^Error: no$/);
    idle(20);
    compute(1_500);
    watch.tick();
    assert.match(warnings[0] ?? '', /No task and no request/);
  });

  it('continues until the last worker stops, and then shows nothing', () => {
    const stopSecond = watch.start(logger);
    compute(1_500);
    watch.tick();
    assert.equal(warnings.length, 2);
    stop();
    stop();
    assert.ok(watch.longestSeconds() > 1);
    stopSecond();
    assert.equal(watch.longestSeconds(), 0);
  });
});
