#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/aggregation_report.sh OUT [BUILD]: what is told of aggregation and MaxK on one GPU, on a machine with 16 cores: products
# and gradients on the zipf graphs and on real ones beside cuSPARSE, sampled and batched products, the k largest and MaxK's
# products for every k, what limits kernels (Nsight Compute), accuracy and training, compute-sanitizer. BUILD (build/gpu) is
# built first, with CMake, Ninja and nvcc. Writes a log a phase, JSON and plots to OUT; exits non-zero if a phase failed.
#
#   phases, most important first, and about how many seconds each takes (a machine of 16 cores; building not counted):
#   RUN=1 (510 s): tests 60, spmm 150, gradients 70, maxk 80, real 50, prepared 40, cli 10, figure 50
#   RUN=2 (520 s): accuracy 120, training 110, limits 100, maxk_limits 50, rows 60, molecules 80
#   RUN=3 (460 s): sanitize 170, sampled 60, training_all 230
#
# Without RUN all of them. ONLY names phases, with blanks between, in place of RUN; build comes before any, unless BUILT=1
# leaves it out. After DEADLINE seconds none is begun, and the one under way is ended. DATA (build/data) is a folder with graphs/NAME.txt.gz as
# bench/real_graphs.py writes them, molecules/NAME.zip, .txt.xz, .txt.gz or .txt, and gnn/ with NAME.npz and planetoid/;
# phases whose files are missing fail. COMMIT names the commit where git cannot, JOBS says how many sanitizers run at a
# time, PYTHON is a Python with PyTorch, SciPy and matplotlib.
set -u
out=${1:?give a folder for the results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.." || exit 1
build=${2:-build/gpu} data=${DATA:-build/data} python=${PYTHON:-python3} jobs=${JOBS:-10}
commit=${COMMIT:-$(git describe --always --dirty --abbrev=12 2>/dev/null || echo "no commit known")}
deadline=${DEADLINE:-86400}
case ${RUN:-} in
1) only='tests spmm gradients maxk real prepared cli figure' ;;
2) only='accuracy training limits maxk_limits rows molecules' ;;
3) only='sanitize sampled training_all' ;;
*) only= ;;
esac
only=${ONLY:-$only}
failed=0

phase() { # NAME SECONDS: that it may take at most
    local name=$1 limit=$2 start=$SECONDS status left=$((deadline - SECONDS))
    [[ -z $only || " $only build " == *" $name "* ]] || return 0
    if ((left < 15)); then
        echo "LEFT   $name: the deadline is over"
        failed=1
        return
    fi
    ((limit <= left)) || limit=$left
    timeout -k 10 "$limit" bash -uc "$name" >"$out/$name.log" 2>&1
    status=$?
    if ((status == 0)); then
        echo "ok     $name ($((SECONDS - start)) s)"
    else
        echo "FAILED $name, status $status ($((SECONDS - start)) s of $limit)"
        tail -n 15 "$out/$name.log"
        failed=1
    fi
}

build() {
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCSAW_CUDA=ON -DCSAW_TESTS=GPU \
        -DCMAKE_CUDA_ARCHITECTURES=90-real &&
        ninja -C "$build" csaw csaw_cli {spmm_gpu,edge_sampled_gpu,batched_gpu,maxk_gpu}_bench \
            {spmm,spmm_backward,edge_sampled,batched,maxk,reducer,far}_gpu_test
}
tests() { # of what these benchmarks run
    local test bad=0
    local -A pids=()
    for test in maxk spmm_backward batched edge_sampled spmm; do
        "$build/tests/${test}_gpu_test" >"$out/${test}_gpu_test.log" 2>&1 &
        pids[$test]=$!
    done
    for test in "${!pids[@]}"; do
        wait "${pids[$test]}" || bad=1
        grep -E '^\[  (FAILED|PASSED)' "$out/${test}_gpu_test.log" | sed "s/^/$test: /"
    done
    return $bad
}
spmm_of() { # JSON, and options
    local json=$1
    shift
    "$build/bench/spmm_gpu_bench" --ways auto --commit "$commit" --json "$out/$json.json" "$@"
}
spmm() { # ANCHORS' lines: every storage, 64 and 256 columns, gradients in times of their product
    local all=sum,dx,dweight,mean,dx-of-mean,max,dx-of-max,dweight-of-max,softmax,dscore-of-softmax,cusparse
    spmm_of spmm-arxiv --graph arxiv --columns 64,256 --repeat 9 --ops $all || return
    spmm_of spmm-reddit --graph reddit --columns 64,256 --repeat 7 --ops sum,dx,dweight,cusparse || return
    spmm_of spmm-products --graph products --columns 64,256 --repeat 5 --ops sum,dx,dweight,cusparse
}
gradients() { # of means, maxima and softmax on the larger graphs
    local ops=mean,dx-of-mean,max,dx-of-max,dweight-of-max
    spmm_of gradients-reddit --graph reddit --columns 64 --storage float32 --repeat 5 \
        --ops $ops,softmax,dscore-of-softmax || return
    spmm_of gradients-products --graph products --columns 64,256 --storage float32 --repeat 5 --ops max,dx-of-max
}
real() { # real graphs, beside cuSPARSE
    local file name
    for file in "$data"/graphs/*.txt.gz; do
        name=$(basename "$file" .txt.gz)
        spmm_of "real-$name" --graph "$file" --undirected 1 --columns 64,256 --repeat 7 --ops sum,dx,dweight,cusparse || return
    done
}
prepared() { # sampled products, and their gradient where A' is prepared
    local graph
    for graph in arxiv reddit; do
        "$build/bench/edge_sampled_gpu_bench" --graph $graph --columns 64 --storage f32 --widths 16,64,256 --repeat 7 \
            --commit "$commit" --json "$out/edge-sampled-$graph.json" || return
    done
}
sampled() { # the others of Fig. 8 of ES-SpMM
    "$build/bench/edge_sampled_gpu_bench" --graph reddit --columns 64 --storage f16,bf16 --repeat 5 \
        --commit "$commit" --json "$out/edge-sampled-reddit-16.json" &&
        "$build/bench/edge_sampled_gpu_bench" --graph reddit --columns 256 --storage f32 --repeat 5 \
            --commit "$commit" --json "$out/edge-sampled-reddit-256.json"
}
cli() {
    "$build/cli/csaw" generate rmat --scale 14 --seed 1 -o "$out/rmat.csaw" &&
        "$build/cli/csaw" spmm "$out/rmat.csaw" --device cuda:0 --backward --json
    local status=$?
    rm -f "$out/rmat.csaw"
    return $status
}
maxk_of() { # JSON, and options
    local json=$1
    shift
    "$build/bench/maxk_gpu_bench" --commit "$commit" --json "$out/$json.json" --repeat 7 "$@"
}
maxk() { # every way back, what the default is taken by, and reddit's lines of figure 8
    maxk_of maxk-reddit --graph reddit --k 2,4,8,16,32,64,96,128,192
}
figure() { # figure 8: its other graphs, and the plot
    maxk_of figure-arxiv --graph arxiv --what figure --k 2,4,8,16,32,64,96,128,192 &&
        maxk_of figure-rmat --graph rmat --scale 18 --what figure --k 2,4,8,16,32,64,96,128,192 &&
        maxk_of figure-products --graph products --share 0.25 --what figure --k 2,4,8,16,32,64,96,128,192 &&
        "$python" bench/plot_maxk.py "$out/maxk.svg" "$out"/{maxk-reddit,figure-products,figure-arxiv,figure-rmat}.json
}
rows() { # the k largest beside a copy
    maxk_of maxk-rows --graph reddit --what rows --cols 256,384,512 --k 1,2,4,8,16,32,64,96,128,192,256
}
molecules() {
    local file unpacked=$out/unpacked files=() status
    mkdir -p "$unpacked"
    for file in "$data"/molecules/*; do
        case $file in
        *.zip) "$python" -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' "$file" "$unpacked" || return ;;
        *.xz) xz -dc "$file" >"$unpacked/$(basename "$file" .xz)" || return ;;
        *.gz) gzip -dc "$file" >"$unpacked/$(basename "$file" .gz)" || return ;;
        *) cp "$file" "$unpacked" || return ;;
        esac
    done
    while read -r file; do files+=(--gin "$file"); done < <(find "$unpacked" -name '*.txt' ! -name '*_*' | sort)
    while read -r file; do files+=(--tu "${file%_A.txt}"); done < <(find "$unpacked" -name '*_A.txt' ! -name '.*' | sort)
    echo "${files[@]:?no molecules in $data/molecules}"
    "$build/bench/batched_gpu_bench" --repeat 9 "${files[@]}" --commit "$commit" --json "$out/molecules.json"
    status=$?
    rm -rf "$unpacked"
    return $status
}
accuracy() { # by S beside speed, cuSPARSE beside it, Table V
    CSAW_LIBRARY=$build/libcsaw.so PYTHONPATH=python "$python" examples/edge_sampled_accuracy.py --data "$data/gnn" \
        --device cuda --epochs 150 --seeds 0 1 --json "$out/edge-sampled-accuracy.json" --plot "$out"
}
training_of() { # JSON, and options
    local json=$1
    shift
    CSAW_LIBRARY=$build/libcsaw.so PYTHONPATH=python "$python" examples/maxk_training.py --data "$data/gnn" --device cuda \
        --seeds 0 1 --every 10 --json "$out/$json.json" --plot "$out/$json" "$@"
}
training() { # nets that had not settled at a higher rate, or never ran
    training_of maxk-training --graphs amazon_cs flickr --nets sage gin --k 8 16 32 64
}
training_all() { training_of maxk-training-all --k 2 4 8 16 32 64 96 128 192; }
limits() { # of products, on whole graphs
    local graph storage
    for graph in arxiv reddit products; do
        for storage in float32 float16; do
            KERNELS='^csaw__(reduce|reduce_hubs|merge)$' bench/launches_ncu.sh "$out/limits-$graph-$storage" \
                "$build/bench/spmm_gpu_bench" --graph $graph --columns 64,256 --storage $storage --ops none --ways auto \
                --repeat 1 || return
        done
    done
}
maxk_limits() { # by k, for Table 2
    KERNELS='^csaw__(maxk_.*|reduce|merge)$' bench/launches_ncu.sh "$out/limits-maxk" "$build/bench/maxk_gpu_bench" \
        --graph reddit --what figure --k 8,16,32,64 --repeat 1
}
sanitize_one() { # TOOL, PROGRAM
    local status log=$out/$1_$2.log
    CSAW_DATA='' CSAW_TEST_EVERY=300 timeout 160 compute-sanitizer --tool "$1" --error-exitcode 9 \
        "$build/tests/$2_gpu_test" >"$log" 2>&1
    status=$?
    echo "$1 $2: status $status, $(grep -c '^\[       OK' "$log") tests passed"
    return $status
}
sanitize() { # 9: a finding; 124: out of time
    local tool program
    for tool in racecheck memcheck; do
        for program in batched reducer spmm edge_sampled far; do printf '%s %s\n' "$tool" "$program"; done
    done | xargs -P "$jobs" -L 1 bash -uc 'sanitize_one "$0" "$1"'
}
export out build data python jobs commit
export -f build tests spmm_of spmm gradients real prepared sampled cli maxk_of maxk figure rows molecules accuracy
export -f training_of training training_all limits maxk_limits sanitize_one sanitize

{
    echo "$commit"
    date -u +%F
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
    nvcc --version | tail -n 2 | head -n 1
} >"$out/machine.txt" 2>&1
[ -n "${BUILT:-}" ] || phase build 560
phase tests 120
phase spmm 260
phase gradients 150
phase maxk 160
phase real 120
phase prepared 100
phase cli 30
phase figure 120
phase accuracy 200
phase training 200
phase limits 200
phase maxk_limits 120
phase rows 120
phase molecules 150
phase sanitize 200
phase sampled 120
phase training_all 400
echo "all: $SECONDS s"
exit $failed
