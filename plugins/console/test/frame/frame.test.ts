import assert from 'node:assert/strict';
import { found } from '../../src/frame/palette.ts';
import { windowTitle } from '../../src/frame/title-text.ts';

describe('the command palette', () => {
  it('finds places by each word of the text, those that begin with it first', () => {
    const places = ['Cluster', 'eu-orders-sink', 'orders-eu', 'payments'].map((title) => ({ title, address: title }));
    const titles = (text: string) => found(places, text).map(({ title }) => title);
    assert.deepEqual(titles('orders'), ['orders-eu', 'eu-orders-sink']);
    assert.deepEqual(titles('SINK eu'), ['eu-orders-sink']);
    assert.deepEqual(titles(''), ['Cluster', 'eu-orders-sink', 'orders-eu', 'payments']);
    assert.equal(
      found(
        Array.from({ length: 50 }, (_, n) => ({ title: `a${String(n)}`, address: '' })),
        'a',
      ).length,
      12,
    );
  });
});

describe('the title of the window', () => {
  it('counts what has failed or stalled, and names the environment', () => {
    assert.equal(windowTitle('orders', 'production', 2), '(2) orders – Sluice production');
    assert.equal(windowTitle('Connectors', '', 0), 'Connectors – Sluice');
  });
});
