import { texts } from '../texts/dead-letters.ts';
import { peakOf, type Histogram } from './dead-letter-record.ts';

const STEP = 2;
const HEIGHT = 18;

/** When the records of a group were, as bars; all groups have the same axis. */
export function GroupTimes({ histogram }: { readonly histogram: Histogram }) {
  const { from, bucketMs, counts } = histogram;
  const peak = peakOf(histogram);
  const width = counts.length * STEP;
  const time = (at: number) => new Date(at).toLocaleString();
  const text = texts.times(time(from), time(from + counts.length * bucketMs), peak.count, time(peak.at), bucketMs);
  return (
    <svg
      class="group-times"
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${String(width)} ${String(HEIGHT)}`}
      role="img"
      aria-label={text}
    >
      <title>{text}</title>
      {counts.map((count, index) => {
        // One dead-letter record among thousands is seen, too.
        const height = count === 0 ? 0 : Math.max(2, (count / peak.count) * HEIGHT);
        return <rect key={index} x={index * STEP} y={HEIGHT - height} width={STEP} height={height} />;
      })}
    </svg>
  );
}
