// SPDX-License-Identifier: Apache-2.0
// The style and the script of the page.
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::report {

// In both colour schemes, colours have a contrast to their background of 4.5 for text and 3 for drawings. Lines also
// differ by dashes.
inline constexpr const char* style = R"css(
:root{color-scheme:light dark;--ground:#fff;--card:#f5f6f8;--text:#1c2024;--soft:#565d66;--edge:#d5d9df;--ours:#1f66c1;--best:#0b7a4b;
--peer:#848b95;--bad:#b3261e;--s0:#1f66c1;--s1:#b4480b;--s2:#0b7a4b;--s3:#8b3fa8;--s4:#a0125a;--s5:#5f6670;--s6:#7a6400;--s7:#007c8a;
--w0:#cfe0f7;--w1:#dbe8fa;--w2:#c2d7f3;--wt:#a9c8f0;--h0:#fbdcc2;--h1:#fde8d7;--h2:#f8d0ae;--ht:#f3b98a;--m1:#fbdedb;--m2:#f5b8b1;--m3:#ee8f85;--l1:#dce8f8;--l2:#b3cff2;--l3:#87b3ea}
@media (prefers-color-scheme:dark){:root{--ground:#14171b;--card:#1d2126;--text:#e7eaee;--soft:#a9b1bb;--edge:#3a4149;--ours:#6aa9ff;--best:#4fc48e;
--peer:#8b929c;--bad:#ff8a80;--s0:#6aa9ff;--s1:#ff9a5c;--s2:#4fc48e;--s3:#cf93ea;--s4:#ff7fb6;--s5:#b3bac3;--s6:#d9c04a;--s7:#4fc7d6;
--w0:#1f3c60;--w1:#1a3150;--w2:#264870;--wt:#2f5d96;--h0:#573518;--h1:#462b14;--h2:#68401e;--ht:#87521f;--m1:#4a2421;--m2:#6f2c27;--m3:#97352d;--l1:#1b3350;--l2:#234a7c;--l3:#2a5ea3}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
table{overflow-wrap:normal}td.w{overflow-wrap:anywhere}
main{max-width:66rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.5rem;line-height:1.3;margin:.2rem 0 .6rem}
h2{font-size:1.15rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--edge);padding-bottom:.25rem}
h3{font-size:1rem;margin:1.4rem 0 .4rem}
p{margin:.5rem 0}
.over,.note,figcaption{color:var(--soft);font-size:.875rem}
.verdict{border-left:.35rem solid var(--ours);padding:.1rem 0 .1rem .9rem}
.verdict.good{border-color:var(--best)}.verdict.bad{border-color:var(--bad)}
article+article{margin-top:3rem;border-top:3px solid var(--edge);padding-top:1.5rem}
.keys{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0;padding:0}
.keys div{background:var(--card);border:1px solid var(--edge);border-radius:.5rem;padding:.5rem .9rem;min-width:9rem;flex:1 1 9rem}
.keys dt{color:var(--soft);font-size:.8rem}.keys dd{margin:0;font-size:1.15rem;font-weight:600}
.keys small{display:block;color:var(--soft);font-size:.8rem;font-weight:400}
.scroll{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--edge);text-align:left;vertical-align:top}
th{color:var(--soft);font-weight:600;vertical-align:bottom}
td{min-width:3.5rem}td.w{min-width:11rem}td.n,th.n{text-align:right}td.n,td.l{white-space:nowrap}
tr.more td:not([rowspan]){border-bottom:0;padding-bottom:0}tr.last td:not([rowspan]){font-weight:600}tr.best td{font-weight:600}tr.best td:first-child{box-shadow:inset .25rem 0 var(--best)}
.bad td,.failed{color:var(--bad)}.open td{color:var(--soft)}
figure{margin:.8rem 0;overflow-x:auto}
svg{display:block;width:100%;min-width:34rem;max-width:48rem;height:auto;font-size:13px}
svg text{fill:var(--text)}
.tick,.axis,.head{text-anchor:middle}svg .head{font-weight:600}
.cell rect{fill:var(--ours)}.m0 rect{fill-opacity:.02}.m1 rect{fill-opacity:.07}.m2 rect{fill-opacity:.14}.m3 rect{fill-opacity:.24}.m4 rect{fill-opacity:.42}svg .cell .tick{fill:var(--text)}
.cell:hover rect,.cell:focus rect{stroke:var(--text);stroke-width:2}
.label,.ytick{text-anchor:end}
svg .tick,svg .ytick,svg .axis{fill:var(--soft)}
.grid{stroke:var(--edge)}.marker{stroke:var(--text);stroke-width:1.5;stroke-dasharray:5 3}
.whisker{stroke:var(--text);stroke-width:1.5}.hit{fill:transparent}
.bar{fill:var(--ours)}.peer .bar{fill:var(--peer)}.best .bar{fill:var(--best)}
.mark:hover .hit,.mark:focus .hit{fill:var(--card)}.mark:focus{outline:none}
.line path{fill:none;stroke-width:2}.leader{stroke:var(--edge)}.line .whisker{stroke:currentColor}.line circle{fill:currentColor}.line path{stroke:currentColor}
svg .line .name{fill:currentColor}
.s0{color:var(--s0)}.s1{color:var(--s1)}.s2{color:var(--s2)}.s3{color:var(--s3)}.s4{color:var(--s4)}.s5{color:var(--s5)}.s6{color:var(--s6)}.s7{color:var(--s7)}
.s1 path{stroke-dasharray:7 3}.s2 path{stroke-dasharray:2 3}.s3 path{stroke-dasharray:10 3 2 3}.s5 path{stroke-dasharray:7 3}.s6 path{stroke-dasharray:2 3}.s7 path{stroke-dasharray:10 3 2 3}
svg.flame{min-width:52rem;max-width:none;font-size:11.5px}
.frame rect{fill:var(--card);stroke:var(--ground);stroke-width:.8}.rest rect,.same rect{fill:var(--edge)}.mark.frame:hover rect,.mark.frame:focus rect{stroke:var(--text);stroke-width:1.2}
.waits.shade0 rect{fill:var(--w0)}.waits.shade1 rect{fill:var(--w1)}.waits.shade2 rect{fill:var(--w2)}.waits.top rect{fill:var(--wt)}
.holds.shade0 rect{fill:var(--h0)}.holds.shade1 rect{fill:var(--h1)}.holds.shade2 rect{fill:var(--h2)}.holds.top rect{fill:var(--ht)}
.more1 rect{fill:var(--m1)}.more2 rect{fill:var(--m2)}.more3 rect{fill:var(--m3)}.less1 rect{fill:var(--l1)}.less2 rect{fill:var(--l2)}.less3 rect{fill:var(--l3)}
pre{background:var(--card);border:1px solid var(--edge);border-radius:.5rem;padding:.7rem .9rem;font-size:.85rem;white-space:pre-wrap;margin:.5rem 0}
dl.facts{display:grid;grid-template-columns:minmax(6rem,11rem) 1fr;gap:.25rem .9rem;font-size:.9rem;margin:.6rem 0}
.facts dt{color:var(--soft)}.facts dd{margin:0}
#tip{position:fixed;z-index:9;max-width:22rem;background:var(--text);color:var(--ground);padding:.35rem .6rem;border-radius:.35rem;font-size:.85rem;pointer-events:none}
@media print{:root{color-scheme:light;--ground:#fff;--card:#fff;--text:#000;--soft:#444;--edge:#bbb;--ours:#1f66c1;--best:#0b7a4b;--peer:#848b95;--bad:#b3261e;
--s0:#1f66c1;--s1:#b4480b;--s2:#0b7a4b;--s3:#8b3fa8;--s4:#a0125a;--s5:#5f6670;--s6:#7a6400;--s7:#007c8a;
--w0:#cfe0f7;--w1:#dbe8fa;--w2:#c2d7f3;--wt:#a9c8f0;--h0:#fbdcc2;--h1:#fde8d7;--h2:#f8d0ae;--ht:#f3b98a;--m1:#fbdedb;--m2:#f5b8b1;--m3:#ee8f85;--l1:#dce8f8;--l2:#b3cff2;--l3:#87b3ea}
body{font-size:10pt}main{max-width:none;padding:0}.scroll,figure{overflow:visible}table{font-size:8pt}th,td{padding:.15rem .3rem}td.n{white-space:normal}
svg,svg.flame{min-width:0}figure,tr,.keys,.verdict{break-inside:avoid}h2,h3{break-after:avoid}article+article{break-before:page}#tip{display:none}}
)css";

// Takes over the marks' titles, so that they appear at once and can be reached by keyboard. Without the script,
// browsers show them.
inline constexpr const char* script = R"js(
(function(){
var tip=document.createElement('div');tip.id='tip';tip.hidden=true;document.body.appendChild(tip);
function show(words,x,y){tip.textContent=words;tip.hidden=false;
tip.style.left=Math.max(4,Math.min(x+12,innerWidth-tip.offsetWidth-8))+'px';
tip.style.top=Math.max(4,y-tip.offsetHeight-12)+'px';}
function hide(){tip.hidden=true;}
document.querySelectorAll('.mark').forEach(function(mark){
var title=mark.querySelector('title');if(!title)return;var words=title.textContent;title.remove();
mark.setAttribute('aria-label',words);mark.setAttribute('tabindex','0');
mark.addEventListener('mousemove',function(e){show(words,e.clientX,e.clientY);});
mark.addEventListener('mouseleave',hide);mark.addEventListener('blur',hide);
mark.addEventListener('focus',function(){var box=mark.getBoundingClientRect();show(words,box.left+box.width/2,box.top);});
});})();
)js";

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report
