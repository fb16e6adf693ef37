// A chart on a canvas.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { colour } from "./locale.svelte";

/** How an axis looks, in the colours of the theme. */
export const axis = (font: number): uPlot.Axis => ({
  stroke: colour("--dim"),
  grid: { stroke: colour("--line"), width: 1 },
  ticks: { show: false },
  font: `${font}px system-ui`,
});

/** Draw a chart that is as wide as its box, until it is taken away. */
export function drawn(node: HTMLElement, options: Omit<uPlot.Options, "width">, data: uPlot.AlignedData): () => void {
  const size = (): { width: number; height: number } => ({ width: Math.max(200, node.clientWidth), height: options.height });
  const plot = new uPlot({ ...options, ...size(), legend: { show: false } }, data, node);
  const resized = new ResizeObserver(() => plot.setSize(size()));
  resized.observe(node);
  return () => {
    resized.disconnect();
    plot.destroy();
  };
}
