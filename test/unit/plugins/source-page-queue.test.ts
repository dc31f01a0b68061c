import assert from 'node:assert/strict';
import { PageQueue } from '../../../plugins/db-source/page-queue.ts';
import type { Page } from '../../../plugins/db-source/feed-reader.ts';

const PAGE: Page = { rows: [], offsetBefore: {}, offsetAfter: {}, lateRows: 0, isLast: false };

describe('the page queue of a source task', () => {
  it('starts no read after its end, even if a running read has more pages', async () => {
    let resolve: (page: Page) => void = () => undefined;
    const running = new Promise<Page>((done) => (resolve = done));
    let reads = 0;
    let ended = false;
    const read = () => {
      reads++;
      return running;
    };
    const mayRead = () => {
      if (ended) throw new Error('asked after the end');
      return true;
    };
    const queue = new PageQueue<string>(read, mayRead);
    queue.add('a table');
    queue.pump();
    assert.equal(reads, 1);
    queue.add('a table');
    ended = true;
    const end = queue.end();
    queue.add('another table');
    queue.pump();
    resolve(PAGE);
    await end;
    assert.equal(reads, 1);
    assert.equal(queue.isActive, false);
  });
});
